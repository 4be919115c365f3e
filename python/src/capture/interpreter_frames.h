// The frames of the interpreter. Their layout differs between versions of CPython. There is one source per family of versions in
// interpreter/, and CMake chooses one of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mindtorch/record/stack_provider.h"
#include "python/src/capture/seen_code.h"

namespace mindtorch::python {

// The frames of `thread`, which must be the calling thread's state, as words, innermost first, those of hidden code left out; returns how
// many were written. Runs no Python code. Does not need the GIL if `seen` does not, because only a thread itself changes its frames.
std::size_t write_frames(PyThreadState* thread, SeenCode& seen, std::uint64_t* words, std::size_t capacity) noexcept;

// The innermost of those frames, hidden or not. Unknown where reading it would create objects.
record::StackProvider::Innermost innermost_frame(PyThreadState* thread) noexcept;

// What a frame object runs. The frame keeps it alive.
PyCodeObject* code_of(PyFrameObject* frame) noexcept;

}  // namespace mindtorch::python

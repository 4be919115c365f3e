// The frames of the interpreter. Their layout differs between versions of CPython: one source a family of versions, in interpreter/, of
// which CMake chooses one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "python/src/capture/seen_code.h"

namespace mindtorch::python {

// The calling thread's frames as words, innermost first, those of hidden code left out; returns how many were written. Needs the GIL; runs
// no Python code.
std::size_t write_frames(SeenCode& seen, std::uint64_t* words, std::size_t capacity) noexcept;

}  // namespace mindtorch::python

// Frames of CPython 3.11 and 3.12: interpreter frames below the thread's C frame, of which few ever become frame objects.
#include <Python.h>
#define Py_BUILD_CORE
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include "python/src/capture/interpreter_frames.h"

namespace mindtorch::python {

std::size_t write_frames(PyThreadState* thread, SeenCode& seen, std::uint64_t* words, std::size_t capacity) noexcept {
  std::size_t count = 0;
  for (_PyInterpreterFrame* frame = thread->cframe->current_frame; frame != nullptr && count < capacity; frame = frame->previous) {
    if (_PyFrame_IsIncomplete(frame)) continue;
    const std::uint32_t code = seen.number_of(frame->f_code);
    if (code == SeenCode::kHidden) continue;
    words[count++] = frame_word(code, static_cast<std::uint32_t>(_PyInterpreterFrame_LASTI(frame)) * sizeof(_Py_CODEUNIT));
  }
  return count;
}

record::StackProvider::Innermost innermost_frame(PyThreadState* thread) noexcept {
  const _PyInterpreterFrame* frame = thread->cframe->current_frame;
  if (frame == nullptr) return {};
  return {frame, frame->prev_instr};
}

PyCodeObject* code_of(PyFrameObject* frame) noexcept { return frame->f_frame->f_code; }

}  // namespace mindtorch::python

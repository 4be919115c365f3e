// Frames of CPython 3.13 and 3.14, if they have a GIL: interpreter frames below the thread state; those of C code run no byte code.
#include <Python.h>
#define Py_BUILD_CORE
#include <internal/pycore_frame.h>
#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_interpframe.h>
#endif
#undef Py_BUILD_CORE

#include "python/src/capture/interpreter_frames.h"

namespace mindtorch::python {

std::size_t write_frames(PyThreadState* thread, SeenCode& seen, std::uint64_t* words, std::size_t capacity) noexcept {
  std::size_t count = 0;
  for (_PyInterpreterFrame* frame = thread->current_frame; frame != nullptr && count < capacity; frame = frame->previous) {
    if (_PyFrame_IsIncomplete(frame)) continue;
    const std::uint32_t code = seen.number_of(_PyFrame_GetCode(frame));
    if (code == SeenCode::kHidden) continue;
    words[count++] = frame_word(code, static_cast<std::uint32_t>(_PyInterpreterFrame_LASTI(frame)) * sizeof(_Py_CODEUNIT));
  }
  return count;
}

record::StackProvider::Innermost innermost_frame(PyThreadState* thread) noexcept {
  const _PyInterpreterFrame* frame = thread->current_frame;
  if (frame == nullptr) return {};
  return {frame, frame->instr_ptr};
}

PyCodeObject* code_of(PyFrameObject* frame) noexcept { return _PyFrame_GetCode(frame->f_frame); }

}  // namespace mindtorch::python

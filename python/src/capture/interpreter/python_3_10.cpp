// Frames of CPython 3.10: a list of frame objects.
#include <Python.h>
#include <frameobject.h>

#include "python/src/capture/interpreter_frames.h"

namespace mindtorch::python {

std::size_t write_frames(PyThreadState* thread, SeenCode& seen, std::uint64_t* words, std::size_t capacity) noexcept {
  std::size_t count = 0;
  for (const PyFrameObject* frame = thread->frame; frame != nullptr && count < capacity; frame = frame->f_back) {
    const std::uint32_t code = seen.number_of(frame->f_code);
    if (code == SeenCode::kHidden) continue;
    words[count++] = frame_word(code, static_cast<std::uint32_t>(frame->f_lasti) * sizeof(_Py_CODEUNIT));
  }
  return count;
}

record::StackProvider::Innermost innermost_frame(PyThreadState* thread) noexcept {
  const PyFrameObject* frame = thread->frame;
  if (frame == nullptr) return {};
  return {frame, PyBytes_AS_STRING(frame->f_code->co_code) + frame->f_lasti};
}

PyCodeObject* code_of(PyFrameObject* frame) noexcept { return frame->f_code; }

}  // namespace mindtorch::python

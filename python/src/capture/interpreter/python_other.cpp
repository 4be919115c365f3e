// Frames of other builds of CPython, through the public functions: right, but each frame becomes an object. They are later versions, whose
// layout is not known here, and free-threaded builds, where another thread may replace the byte code that a frame points into.
#include <Python.h>

#include "python/src/capture/interpreter_frames.h"
#include "python/src/capture/interpreter_memory.h"
#include "python/src/gil.h"

namespace mindtorch::python {

std::size_t write_frames(PyThreadState* thread, SeenCode& seen, std::uint64_t* words, std::size_t capacity) noexcept {
  const WithGil gil;  // these functions create objects
  if (!gil) return 0;
  std::size_t count = 0;
  PyFrameObject* frame = PyThreadState_GetFrame(thread);
  while (frame != nullptr && count < capacity) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const std::uint32_t number = seen.number_of(code);
    if (number != SeenCode::kHidden) words[count++] = frame_word(number, static_cast<std::uint32_t>(PyFrame_GetLasti(frame)));
    Py_DECREF(code);
    PyFrameObject* caller = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = caller;
  }
  Py_XDECREF(frame);
  return count;
}

record::StackProvider::Innermost innermost_frame(PyThreadState*) noexcept { return {}; }

PyCodeObject* code_of(PyFrameObject* frame) noexcept {
  PyCodeObject* const code = PyFrame_GetCode(frame);
  Py_DECREF(code);
  return code;
}

std::optional<InterpreterPlaces> interpreter_places() noexcept { return std::nullopt; }
std::size_t thread_bytes() noexcept { return 0; }
std::size_t frame_bytes() noexcept { return 0; }
std::size_t code_bytes() noexcept { return 0; }
ThreadView view_thread(const void*) noexcept { return {}; }
FrameView view_frame(const void*, Address) noexcept { return {}; }
CodeView view_code(const void*) noexcept { return {}; }

}  // namespace mindtorch::python

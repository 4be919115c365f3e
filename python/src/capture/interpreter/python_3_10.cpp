// Frames of CPython 3.10: a list of frame objects.
#include <Python.h>
#include <frameobject.h>
#define Py_BUILD_CORE
#undef HAVE_STD_ATOMIC  // the C header of atomic types means nothing in C++
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#undef Py_BUILD_CORE

#include "python/src/capture/interpreter_frames.h"
#include "python/src/capture/interpreter_memory.h"

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

std::optional<InterpreterPlaces> interpreter_places() noexcept {
  const PyInterpreterState* const main = PyInterpreterState_Main();
  const _gil_runtime_state& gil = _PyRuntime.ceval.gil;
  return InterpreterPlaces{reinterpret_cast<Address>(main),
                           reinterpret_cast<Address>(&main->tstate_head),
                           reinterpret_cast<Address>(&gil),
                           sizeof gil,
                           reinterpret_cast<Address>(&gil.last_holder),
                           reinterpret_cast<Address>(&gil.locked),
                           reinterpret_cast<Address>(&main->gc.collecting)};
}

std::size_t thread_bytes() noexcept { return sizeof(PyThreadState); }
std::size_t frame_bytes() noexcept { return offsetof(PyFrameObject, f_localsplus); }
std::size_t code_bytes() noexcept { return sizeof(PyCodeObject); }

ThreadView view_thread(const void* copy) noexcept {
  const auto& thread = *static_cast<const PyThreadState*>(copy);
  return {.next = reinterpret_cast<Address>(thread.next),
          .interpreter = reinterpret_cast<Address>(thread.interp),
          .frame = reinterpret_cast<Address>(thread.frame),
          .pthread = thread.thread_id};
}

FrameView view_frame(const void* copy, Address frame) noexcept {
  const auto& it = *static_cast<const PyFrameObject*>(copy);
  return {frame, reinterpret_cast<Address>(it.f_back), reinterpret_cast<Address>(it.f_code),
          std::int64_t{it.f_lasti} * static_cast<std::int64_t>(sizeof(_Py_CODEUNIT)), true};
}

CodeView view_code(const void* copy) noexcept {
  const auto& code = *static_cast<const PyCodeObject*>(copy);
  return {reinterpret_cast<Address>(Py_TYPE(&code)),
          reinterpret_cast<Address>(code.co_filename),
          reinterpret_cast<Address>(code.co_name),
          reinterpret_cast<Address>(code.co_linetable),
          code.co_firstlineno,
          -static_cast<int>(sizeof(_Py_CODEUNIT))};
}

}  // namespace mindtorch::python

// Frames of CPython 3.13 and 3.14, if they have a GIL: interpreter frames below the thread state; those of C code run no byte code.
#include <Python.h>
#define Py_BUILD_CORE
#undef HAVE_STD_ATOMIC  // the C header of atomic types means nothing in C++
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_interpframe.h>
#endif
#undef Py_BUILD_CORE

#include "python/src/capture/interpreter_frames.h"
#include "python/src/capture/interpreter_memory.h"

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

std::optional<InterpreterPlaces> interpreter_places() noexcept {
  const PyInterpreterState* const main = PyInterpreterState_Main();
  const _gil_runtime_state& gil = *main->ceval.gil;
  return InterpreterPlaces{reinterpret_cast<Address>(main),
                           reinterpret_cast<Address>(&main->threads.head),
                           reinterpret_cast<Address>(&gil),
                           sizeof gil,
                           reinterpret_cast<Address>(&gil.last_holder),
                           reinterpret_cast<Address>(&gil.locked),
                           reinterpret_cast<Address>(&main->gc.collecting)};
}

std::size_t thread_bytes() noexcept { return offsetof(PyThreadState, datastack_limit); }
std::size_t frame_bytes() noexcept { return offsetof(_PyInterpreterFrame, localsplus); }
std::size_t code_bytes() noexcept { return offsetof(PyCodeObject, co_code_adaptive); }

ThreadView view_thread(const void* copy) noexcept {
  const auto& thread = *static_cast<const PyThreadState*>(copy);
  return {.next = reinterpret_cast<Address>(thread.next),
          .interpreter = reinterpret_cast<Address>(thread.interp),
          .frame = reinterpret_cast<Address>(thread.current_frame),
          .os_id = static_cast<std::int64_t>(thread.native_thread_id),
          .stack = reinterpret_cast<Address>(thread.datastack_chunk),
          .stack_end = reinterpret_cast<Address>(thread.datastack_top)};
}

FrameView view_frame(const void* copy, Address frame) noexcept {
  constexpr int kOwnedByC = 3;  // FRAME_OWNED_BY_CSTACK of 3.13, FRAME_OWNED_BY_INTERPRETER of 3.14; what follows is of C too
  constexpr Address kTags = 3;  // low bits of a reference that are no part of the address
  const auto& it = *static_cast<const _PyInterpreterFrame*>(copy);
#if PY_VERSION_HEX >= 0x030E0000
  const Address code = it.f_executable.bits & ~kTags;
#else
  const Address code = reinterpret_cast<Address>(it.f_executable) & ~kTags;
#endif
  return {frame, reinterpret_cast<Address>(it.previous), code,
          static_cast<std::int64_t>(reinterpret_cast<Address>(it.instr_ptr) - (code + offsetof(PyCodeObject, co_code_adaptive))),
          it.owner < kOwnedByC};
}

CodeView view_code(const void* copy) noexcept {
  const auto& code = *static_cast<const PyCodeObject*>(copy);
  return {reinterpret_cast<Address>(Py_TYPE(&code)),
          reinterpret_cast<Address>(code.co_filename),
          reinterpret_cast<Address>(code.co_name),
          reinterpret_cast<Address>(code.co_linetable),
          code.co_firstlineno,
          code._co_firsttraceable * static_cast<int>(sizeof(_Py_CODEUNIT))};
}

}  // namespace mindtorch::python

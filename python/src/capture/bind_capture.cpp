// What a Python program records while it runs.
#include "mindtorch/record/foreign_lock.h"
#include "mindtorch/record/state.h"
#include "mindtorch/record/thread_sampler.h"
#include "python/src/bindings.h"
#include "python/src/capture/frame_stacks.h"
#include "python/src/capture/parts.h"
#include "python/src/gil.h"
#include "python/src/interpreter_exit.h"
#include "python/src/sampling/sampler.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

// Never destroyed: threads may record while the interpreter ends.
FrameStacks& frame_stacks() {
  static FrameStacks& it = *new FrameStacks;
  return it;
}

// A thread that waits for the recorder lets other threads of Python run.
class InterpreterLock : public record::ForeignLock {
 public:
  void* give_up() noexcept override { return Py_IsInitialized() != 0 && holds_gil() ? PyEval_SaveThread() : nullptr; }
  void take_back(void* given_up) noexcept override { take_gil_back(static_cast<PyThreadState*>(given_up)); }
};

InterpreterLock& interpreter_lock() {
  static InterpreterLock& it = *new InterpreterLock;
  return it;
}

}  // namespace

void bind_capture(nb::module_& module) {
  record::check_abi(record::kAbiVersion);
  // A C++ program that records already, and imports this module meanwhile, keeps the stacks it began with.
  if (record::current_state() == 0) {
    record::set_stack_provider(&frame_stacks());
    record::set_thread_sampler(&python_sampler());
  }
  record::set_foreign_lock(&interpreter_lock());
  watch_interpreter_exit();
  bind_session_listener(module);
  bind_applied_arguments(module);
  add_record_function(module.ptr());
  add_record_function_fast(module.ptr());
  add_dispatch_hooks(module.ptr());
  add_module_calls(module.ptr());
  add_call_slot(module.ptr());
  add_python_calls(module.ptr());
  module.def("_watch_data_workers", &watch_data_workers, nb::arg("folder"),
             "Workers of data loaders write what they do into files in this folder, and recordings with a sampler have it.");
  bind_execution_trace(module);
}

}  // namespace mindtorch::python

// The profiler in Python.
#include "python/src/profiler/bind_profiler.h"

#include "python/src/bindings.h"

namespace mindtorch::python {

void bind_profiler(nb::module_& module) {
  bind_schedule(module);
  bind_function_event(module);
  bind_function_event_avg(module);
  bind_event_sequence(module);
  bind_event_rows(module);
  bind_event_columns(module);
  bind_arrow_streams(module);
  bind_all_events(module);
  bind_hand_made_tree(module);
  bind_tensor_inputs(module);
  bind_recording(module);
  bind_profile(module);
  bind_program(module);
  bind_status(module);
  bind_control_socket(module);
}

}  // namespace mindtorch::python

// The parts of bind_profiler(), one per file.
#pragma once

#include <nanobind/nanobind.h>

namespace mindtorch::python {

namespace nb = nanobind;

void bind_schedule(nb::module_& module);
void bind_profile(nb::module_& module);
void bind_recording(nb::module_& module);
void bind_program(nb::module_& module);
void bind_function_event(nb::module_& module);
void bind_function_event_avg(nb::module_& module);
void bind_event_sequence(nb::module_& module);
void bind_event_rows(nb::module_& module);
void bind_event_columns(nb::module_& module);
void bind_arrow_streams(nb::module_& module);
void bind_all_events(nb::module_& module);
void bind_hand_made_tree(nb::module_& module);
void bind_tensor_inputs(nb::module_& module);
void bind_status(nb::module_& module);
void bind_control_socket(nb::module_& module);

}  // namespace mindtorch::python

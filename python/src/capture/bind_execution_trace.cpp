// ExecutionTrace in Python.
#include "mindtorch/profiler/execution_trace.h"
#include "python/src/capture/parts.h"
#include "python/src/gil.h"
#include "python/src/text.h"

namespace mindtorch::python {

void bind_execution_trace(nb::module_& module) {
  using profiler::ExecutionTrace;
  using Release = nb::call_guard<ReleasedGil>;
  nb::class_<ExecutionTrace>(module, "_ExecutionTrace", "Collects what is called, and writes it as a Chakra execution trace.")
      .def(nb::init<>())
      .def("register_output", &ExecutionTrace::register_output, nb::arg("path"), Release())
      .def("set_process_groups", &ExecutionTrace::set_process_groups, nb::arg("json"))
      .def("unregister", &ExecutionTrace::unregister, Release())
      .def("start", &ExecutionTrace::start, Release())
      .def("stop", &ExecutionTrace::stop, Release())
      .def_prop_ro("registered", &ExecutionTrace::registered)
      .def_prop_ro("running", &ExecutionTrace::running);
}

}  // namespace mindtorch::python

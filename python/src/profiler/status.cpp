// What can be recorded on this machine, and warnings of the library in Python.
#include "mindtorch/profiler/status.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "mindtorch/bridges/nvtx/injection.h"
#include "mindtorch/profiler/warning.h"
#include "python/src/gil.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/conversions.h"

namespace mindtorch::python {
namespace {

void warn_in_python(profiler::WarningCategory category, const std::string& text) {
  if (Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire locked;
  const bool future = category == profiler::WarningCategory::kFuture;
  imported("mindtorch_v2.profiler._warnings", "warn")(to_text(text), nb::borrow(future ? PyExc_FutureWarning : PyExc_UserWarning));
}

}  // namespace

void bind_status(nb::module_& module) {
  using profiler::SourceStatus;
  nb::class_<SourceStatus>(module, "SourceStatus", "Somebody who can watch a device, or the reason why not.")
      .def_ro("name", &SourceStatus::name)
      .def_prop_ro("activity", [](const SourceStatus& self) { return to_python(self.activity); })
      .def_ro("available", &SourceStatus::available)
      .def_ro("reason", &SourceStatus::reason)
      .def_ro("advice", &SourceStatus::advice);
  module.def("profiler_status", [] {
    profiler::ProfilerStatus status;
    {
      const ReleasedGil unlocked;  // may load a vendor's library
      status = profiler::status();
    }
    return nb::make_tuple(status.recording, status.clock, status.hosts, status.sources);
  });
  module.def("diagnose_sources", [] {
    std::vector<profiler::SourceDiagnosis> all;
    {
      const ReleasedGil unlocked;
      all = profiler::diagnose_sources();
    }
    nb::dict facts;
    for (const profiler::SourceDiagnosis& each : all) facts[each.name.c_str()] = nb::cast(each.facts);
    return facts;
  });
  module.def("supported_activities", [] {
    std::vector<profiler::Activity> supported;
    {
      const ReleasedGil unlocked;
      supported = profiler::supported_activities();
    }
    return to_python(supported);
  });
  module.def("nvtx_injection_path", &nvtx::injection_path);
  module.def("nvtx_connected_libraries", &nvtx::connected_libraries);
  profiler::set_warning_sink(&warn_in_python);
}

}  // namespace mindtorch::python

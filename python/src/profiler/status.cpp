// What can be recorded on this machine, and warnings of the library in Python.
#include "mindtorch/profiler/status.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <string>

#include "mindtorch/base/dynamic_library.h"
#include "mindtorch/bridges/nvtx/injection.h"
#include "mindtorch/profiler/profile.h"
#include "mindtorch/profiler/warning.h"
#include "python/src/gil.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/conversions.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

void warn_in_python(profiler::WarningCategory category, const std::string& text) {
  if (Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire locked;
  const bool future = category == profiler::WarningCategory::kFuture;
  imported("mindtorch_v2.base.warnings", "warn")(to_text(text), nb::borrow(future ? PyExc_FutureWarning : PyExc_UserWarning));
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
  module.def(
      "flush_recording",
      [] {
        const ReleasedGil unlocked;  // the thread that writes may need it to read call stacks
        return profiler::flush_recording(std::chrono::seconds(1));
      },
      "Writes what has been recorded so far to the file of a profile that spills. False if that takes longer than a second.");
  module.def("supported_activities", [] {
    std::vector<profiler::Activity> supported;
    {
      const ReleasedGil unlocked;
      supported = profiler::supported_activities();
    }
    return to_python(supported);
  });
  module.def(
      "chosen_library", [](const std::string& name) { return chosen_library(name); }, nb::arg("name"),
      "The path that MINDTORCH_LIBRARY_PATH has for a name; \"\" if it has none.");
  module.def("nvtx_injection_path", &nvtx::injection_path);
  module.def("nvtx_connected_libraries", &nvtx::connected_libraries);
  profiler::set_warning_sink(&warn_in_python);
}

}  // namespace mindtorch::python

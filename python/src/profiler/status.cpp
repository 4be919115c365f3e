// What can be recorded on this machine, and the way of warnings to Python.
#include "mindtorch/profiler/status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "mindtorch/profiler/warning.h"
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

std::string describe(const profiler::ProfilerStatus& status) {
  std::string text = fmt::format("recording: {}\nclock: {}\nhosts: {}\n", status.recording ? "yes" : "no", status.clock,
                                 status.hosts.empty() ? "none" : fmt::format("{}", fmt::join(status.hosts, ", ")));
  for (const profiler::SourceStatus& source : status.sources)
    text += fmt::format("{} ({}): {}\n", profiler::activity_name(source.activity), source.name,
                        source.available ? "available" : "not available: " + source.reason);
  return text;
}

}  // namespace

void bind_status(nb::module_& module) {
  using profiler::ProfilerStatus;
  using profiler::SourceStatus;
  nb::class_<SourceStatus>(module, "SourceStatus", "Somebody who can watch a device, or the reason why not.")
      .def_ro("name", &SourceStatus::name)
      .def_prop_ro("activity", [](const SourceStatus& self) { return to_python(self.activity); })
      .def_ro("available", &SourceStatus::available)
      .def_ro("reason", &SourceStatus::reason);
  nb::class_<ProfilerStatus>(module, "ProfilerStatus", "What can be recorded in this process now.")
      .def_ro("recording", &ProfilerStatus::recording)
      .def_ro("clock", &ProfilerStatus::clock)
      .def_ro("hosts", &ProfilerStatus::hosts)
      .def_ro("sources", &ProfilerStatus::sources)
      .def("__repr__", &describe);
  module.def("profiler_status", &profiler::status, nb::call_guard<nb::gil_scoped_release>());
  module.def("supported_activities", [] {
    std::vector<profiler::Activity> supported;
    {
      const nb::gil_scoped_release unlocked;
      supported = profiler::supported_activities();
    }
    return to_python(supported);
  });
  profiler::set_warning_sink(&warn_in_python);
}

}  // namespace mindtorch::python

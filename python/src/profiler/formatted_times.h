// The common part of FunctionEvent and FunctionEventAvg (torch: FormattedTimesMixin): averages, and times as text.
#pragma once

#include <nanobind/nanobind.h>

#include "mindtorch/analyze/units.h"
#include "python/src/text.h"

namespace mindtorch::python {

namespace nb = nanobind;

// Python's FutureWarning, at the line of Python that is being run.
inline void warn_deprecated(const char* text) {
  if (PyErr_WarnEx(PyExc_FutureWarning, text, 1) < 0) throw nb::python_error();
}

// `Read` gives microseconds: Read::cpu_time_total(self), ...
template <class Read, class Class>
void def_formatted_times(Class& type) {
  using Self = typename Class::Type;
  type.def_prop_ro("cpu_time", [](const Self& self) { return Read::cpu_time(self); })
      .def_prop_ro("device_time", [](const Self& self) { return Read::device_time(self); })
      .def_prop_ro("cpu_time_str", [](const Self& self) { return analyze::format_time(Read::cpu_time(self)); })
      .def_prop_ro("device_time_str", [](const Self& self) { return analyze::format_time(Read::device_time(self)); })
      .def_prop_ro("cpu_time_total_str", [](const Self& self) { return analyze::format_time(Read::cpu_time_total(self)); })
      .def_prop_ro("device_time_total_str", [](const Self& self) { return analyze::format_time(Read::device_time_total(self)); })
      .def_prop_ro("self_cpu_time_total_str", [](const Self& self) { return analyze::format_time(Read::self_cpu_time_total(self)); })
      .def_prop_ro("self_device_time_total_str", [](const Self& self) { return analyze::format_time(Read::self_device_time_total(self)); })
      .def_prop_ro("cuda_time", [](const Self& self) {
        warn_deprecated("`cuda_time` is deprecated, please use `device_time` instead.");
        return Read::device_time(self);
      });
}

}  // namespace mindtorch::python

// The schedule of a Python profile. One that our schedule() made stays in C++; any other callable is called once per step.
#pragma once

#include <nanobind/nanobind.h>

#include "mindtorch/profiler/schedule.h"

namespace mindtorch::python {

// The result of mindtorch_v2.profiler.schedule().
struct NativeSchedule {
  profiler::Schedule action;
};

// `owner` is the profile, whose attribute `schedule` is the callable. It must outlive the result. None gives an empty schedule.
profiler::Schedule to_schedule(nanobind::handle callable, nanobind::handle owner);

}  // namespace mindtorch::python

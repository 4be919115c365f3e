// The schedule of a Python profile: one made by our schedule() stays C++, any other callable is asked once a step.
#pragma once

#include <nanobind/nanobind.h>

#include "mindtorch/profiler/schedule.h"

namespace mindtorch::python {

// What mindtorch_v2.profiler.schedule() returns.
struct NativeSchedule {
  profiler::Schedule action;
};

// `owner` is the profile, whose attribute `schedule` holds the callable when it is asked; it must outlive the result. None: an empty
// schedule.
profiler::Schedule to_schedule(nanobind::handle callable, nanobind::handle owner);

}  // namespace mindtorch::python

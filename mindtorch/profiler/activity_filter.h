// Activity filters: they limit an activity to some kinds of its events (torch: a dict among the activities).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/profiler/activity.h"
#include "mindtorch/trace/keep_kinds.h"

namespace mindtorch::profiler {

// {kCuda, {"GPU_MEMCPY", "CUDA_RUNTIME"}}: no other events of that activity are kept. An empty list of names keeps no event of it.
struct ActivityFilter {
  Activity activity = Activity::kCpu;
  std::vector<std::string> names;  // torch's names of groups of events
};

// The kinds of events that `activities`, limited by `filters`, consist of. Throws Error with torch's text for an unknown name, or for one
// that names nothing of its activity.
MINDTORCH_EXPORT trace::KindSet wanted_kinds(std::span<const Activity> activities, std::span<const ActivityFilter> filters);

}  // namespace mindtorch::profiler

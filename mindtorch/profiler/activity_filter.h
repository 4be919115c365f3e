// Activity filters: only some kinds of the events of an activity (torch: a dict among the activities).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mindtorch/profiler/activity.h"
#include "mindtorch/trace/keep_kinds.h"

namespace mindtorch::profiler {

// {kCuda, {"GPU_MEMCPY", "CUDA_RUNTIME"}}: nothing else of that activity is kept; no names: nothing of it at all.
struct ActivityFilter {
  Activity activity = Activity::kCpu;
  std::vector<std::string> names;  // torch's names of groups of events
};

// The kinds of events that `activities`, limited by `filters`, consist of. Throws Error with torch's text for a name that is none, or that
// names nothing of its activity.
trace::KindSet wanted_kinds(std::span<const Activity> activities, std::span<const ActivityFilter> filters);

}  // namespace mindtorch::profiler

// Status: what can be recorded on this machine now.
#include "mindtorch/profiler/status.h"

#include <algorithm>

#include "mindtorch/base/error.h"
#include "mindtorch/record/clock.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/record/host.h"
#include "mindtorch/record/session.h"
#include "mindtorch/sources/sources.h"

namespace mindtorch::profiler {

Activity activity_of(const record::ActivitySource& source) {
  switch (source.device_type()) {
    case trace::DeviceType::kCuda: return Activity::kCuda;
    case trace::DeviceType::kNpu: return Activity::kNpu;
    default: return Activity::kCpu;
  }
}

std::vector<Activity> supported_activities() {
  std::vector<Activity> supported = {Activity::kCpu};
  for (record::ActivitySource* source : sources::all_sources())
    if (source->probe()) supported.push_back(activity_of(*source));
  std::sort(supported.begin(), supported.end());
  supported.erase(std::unique(supported.begin(), supported.end()), supported.end());
  return supported;
}

ProfilerStatus status() {
  ProfilerStatus status{.recording = record::is_recording(), .clock = std::string(record::system_clock().name())};
  for (const record::Host* host : record::hosts()) status.hosts.emplace_back(host->name());
  for (record::ActivitySource* source : sources::all_sources()) {
    const Status available = source->probe();
    status.sources.push_back({std::string(source->name()), activity_of(*source), available.is_ok(), available.reason(),
                              available ? source->advice() : std::string()});
  }
  return status;
}

std::vector<SourceDiagnosis> diagnose_sources() {
  if (record::is_recording()) throw_error("profiler.diagnose_sources", "a profile is recording; stop it first");
  std::vector<SourceDiagnosis> all;
  for (record::ActivitySource* source : sources::all_sources())
    if (source->probe()) all.push_back({std::string(source->name()), source->diagnose()});
  return all;
}

}  // namespace mindtorch::profiler

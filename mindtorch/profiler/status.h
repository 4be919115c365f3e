// Status: what can be recorded on this machine now, and why the rest cannot be.
#pragma once

#include <string>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/profiler/activity.h"
#include "mindtorch/record/source.h"

namespace mindtorch::profiler {

// CPU always; a device if its source reports that it can record it. In the order of the enum.
MINDTORCH_EXPORT std::vector<Activity> supported_activities();

struct SourceStatus {
  std::string name;  // "cupti"
  Activity activity = Activity::kCpu;
  bool available = false;
  std::string reason;  // why not, in words the user can act on; empty if available
};

struct ProfilerStatus {
  bool recording = false;             // a session records host events now
  std::string clock;                  // "tsc"
  std::vector<std::string> hosts;     // runtimes whose ops are recorded: "embedded", "torch"
  std::vector<SourceStatus> sources;  // which source records which device
};

// Asks every source; that may load the vendor's library, so the first call can be slow.
MINDTORCH_EXPORT ProfilerStatus status();

// The activity a source records.
MINDTORCH_EXPORT Activity activity_of(const record::ActivitySource& source);

}  // namespace mindtorch::profiler

// Status: what can be recorded on this machine now, and why the rest cannot be.
#pragma once

#include <string>
#include <utility>
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
  std::string advice;  // if available: what could be set so that more is recorded; empty if nothing
};

struct ProfilerStatus {
  bool recording = false;             // a session records host events now
  std::string clock;                  // "tsc"; "cntvct" on arm64
  std::vector<std::string> hosts;     // runtimes whose ops are recorded: "embedded", "torch"
  std::vector<SourceStatus> sources;  // which source records which device
};

// Asks every source; that may load the vendor's library, so the first call can be slow.
MINDTORCH_EXPORT ProfilerStatus status();

// What a bug report should say about a source, as names and values.
struct SourceDiagnosis {
  std::string name;
  std::vector<std::pair<std::string, std::string>> facts;
};

// Asks every source that is available. Only while nothing is recorded: it tries which kinds of records can be switched on.
MINDTORCH_EXPORT std::vector<SourceDiagnosis> diagnose_sources();

// The activity a source records.
MINDTORCH_EXPORT Activity activity_of(const record::ActivitySource& source);

}  // namespace mindtorch::profiler

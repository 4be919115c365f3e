// Any file that mtprof understands, as a recording.
#pragma once

#include <string>

#include "mindtorch/analyze/diff/step_profile.h"
#include "mindtorch/ingest/load_trace.h"

namespace mindtorch::mtprof {

using Loaded = ingest::LoadedTrace;

// As ingest::load_trace(), with progress on a terminal.
Loaded load(const std::string& path, const ingest::ChromeReadOptions& options = {});

// A run as it is compared with others. Damage is told on standard error.
struct ProfiledRun {
  analyze::StepProfile profile;
  bool is_damaged = false;
};
ProfiledRun load_profile(const std::string& path, const analyze::StepProfileOptions& options = {});

}  // namespace mindtorch::mtprof

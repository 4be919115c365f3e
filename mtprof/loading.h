// Any file that mtprof understands, as a recording.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "mindtorch/analyze/diff/step_profile.h"
#include "mindtorch/export/chrome/chrome_reader.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::mtprof {

struct Loaded {
  trace::Recording recording;
  std::string_view format;  // "recording", "Chrome trace"
  std::uint64_t file_size = 0;
  std::optional<std::string> damage;
  // Chrome traces only.
  std::map<std::string, std::uint64_t> skipped;
  exporter::FlowEnds flows;
};

// Throws IoError or InvalidArgument. What is damaged is loaded as far as it goes. Shows progress on a terminal.
Loaded load(const std::string& path, const exporter::ChromeReadOptions& options = {});

// A run as it is compared with others. Damage is told on standard error.
struct ProfiledRun {
  analyze::StepProfile profile;
  bool is_damaged = false;
};
ProfiledRun load_profile(const std::string& path, const analyze::StepProfileOptions& options = {});

}  // namespace mindtorch::mtprof

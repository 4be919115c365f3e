// What is in a recording, as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "mindtorch/analyze/analysis.h"
#include "mtprof/loading.h"

namespace mindtorch::mtprof {

// What reading a file told besides the recording.
struct FileFacts {
  std::string name;
  std::string_view format;  // "recording", "Chrome trace"
  std::uint64_t bytes = 0;
  std::optional<std::string> damage;
  std::map<std::string, std::uint64_t> skipped;
};
FileFacts facts_of(const std::string& name, const Loaded& loaded);

// The answer of `mtprof info --json`.
std::string info_json(const FileFacts& file, const analyze::Analysis& analysis);

}  // namespace mindtorch::mtprof

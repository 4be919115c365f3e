// A small reader of Perfetto traces, independent of the writer: packets, tracks and track events, by the numbers of their fields.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mindtorch::fuzz {

struct PftraceSummary {
  std::uint64_t packets = 0;
  std::uint64_t slices = 0;  // begins that have an end
  std::uint64_t instants = 0;
  std::map<std::uint64_t, std::string> tracks;  // uuid -> name
};

// Empty if the bytes are not a trace: a field that ends early, an event on a track that is not described, an end without a begin.
// `why` says which.
std::optional<PftraceSummary> read_pftrace(std::string_view bytes, std::string& why);

}  // namespace mindtorch::fuzz

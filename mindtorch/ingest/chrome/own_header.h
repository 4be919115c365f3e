// Our own object in the header of a Chrome trace, read back.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "mindtorch/ingest/chrome/trace_part.h"
#include "mindtorch/trace/memory_budget.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::ingest::chrome {

// Memory that simdjson's DOM takes for each byte of text.
inline constexpr std::uint64_t kParserBytes = 16;

struct OwnHeader {
  bool devices_known = false;
  std::vector<trace::DeviceType> device_types;  // of the devices that the trace lists, in their order
  // Rows of the viewer and the tracks they show; overlap lanes show the track of the row they belong to.
  std::vector<std::pair<RowKey, trace::Track>> rows;
};

// Returns the text of a JSON string, or "" if `token` is not a string.
std::string json_string_text(std::string_view token);

// Copies the content of the header to `recording` (clock, losses, steps, memory baselines and tags, activities). Empty if the header does
// not have a version that this library supports. Throws trace::BudgetExceeded.
std::optional<OwnHeader> read_own_header(std::string_view json, trace::Recording& recording, trace::MemoryBudget& budget);

}  // namespace mindtorch::ingest::chrome

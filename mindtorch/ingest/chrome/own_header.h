// Our own object in the header of a Chrome trace, read back.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "mindtorch/ingest/chrome/trace_part.h"
#include "mindtorch/trace/memory_budget.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::ingest::chrome {

struct OwnHeader {
  bool devices_known = false;
  // Rows of the viewer and the tracks they show; overlap lanes show the track of the row they belong to.
  std::vector<std::pair<RowKey, trace::Track>> rows;
};

// The text a JSON string stands for, "" if it is none.
std::string json_string_text(std::string_view token);

// Fills what the header says into `recording` (clock, losses, steps, memory baselines and tags, activities). Empty if it is not a header of
// a version this library knows. Throws trace::BudgetExceeded.
std::optional<OwnHeader> read_own_header(std::string_view json, trace::Recording& recording, trace::MemoryBudget& budget);

}  // namespace mindtorch::ingest::chrome

// Key averages of rows instead of a recording: of events made by hand, or of a part of a recording.
#pragma once

#include <cstddef>
#include <vector>

#include "mindtorch/analyze/key_averages.h"
#include "mindtorch/analyze/table.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// The averages, and for each of them the position of its first row.
struct RowGroups {
  KeyAverages averages;
  std::vector<std::size_t> first;
};

// Groups rows by torch's key, in the order of the first row of each group. Key averages of a whole recording are much faster.
MINDTORCH_EXPORT RowGroups group_rows(const TableRows& rows, const GroupOptions& options);

}  // namespace mindtorch::analyze

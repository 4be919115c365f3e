// Key averages: events grouped by name, timeline and device, as torch groups them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/average.h"
#include "mindtorch/analyze/table.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

struct GroupOptions {
  bool group_by_input_shape = false;
  std::int64_t group_by_stack_n = 0;  // innermost user frames; 0: stacks do not matter
  bool group_by_overload_name = false;
};

// Plain values, independent of the recording once made. Rows may be sorted, added and removed: everything below acts on the rows as they
// are.
struct MINDTORCH_EXPORT KeyAverages {
  std::vector<Average> rows;  // in the order of each row's first event
  TableContext context;

  // Sum of all rows under the key "Total".
  Average total_average() const;
  double self_cpu_time_total() const;  // us
  std::string table(const TableOptions& options = {}) const { return analyze::table(rows, context, options); }
};

// O(events). Several threads may call it at once.
MINDTORCH_EXPORT KeyAverages key_averages(const Analysis& analysis, const GroupOptions& options = {});

}  // namespace mindtorch::analyze

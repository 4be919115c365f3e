// StepMap: how long a job's ranks were busy in each step (RankStep::busy_ns()), on a grid that is small enough to look at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mindtorch/analyze/ranks/job.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// Neighbouring ranks and steps share a cell if there are more than the grid has room for. A cell holds the longest of its times, so
// that one slow step of one rank stays visible.
struct StepMap {
  struct Range {
    std::int64_t first = 0;
    std::int64_t last = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  std::vector<Range> ranks;              // of each row
  std::vector<Range> steps;              // of each column
  std::vector<std::int64_t> longest_ns;  // row by row; -1 where nothing was recorded
  std::size_t columns() const { return steps.size(); }
};

// Linear in the number of steps of all ranks together.
MINDTORCH_EXPORT StepMap step_map(const Job& job, std::size_t most_rows, std::size_t most_columns);

}  // namespace mindtorch::analyze

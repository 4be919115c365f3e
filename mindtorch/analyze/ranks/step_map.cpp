// StepMap: cells of ranks and steps.
#include "mindtorch/analyze/ranks/step_map.h"

#include <algorithm>
#include <unordered_map>

namespace mindtorch::analyze {
namespace {

// The cell of the i-th of `count` things, if there is room for `most` cells of equal size.
class Cells {
 public:
  Cells(std::size_t count, std::size_t most) : size_(std::max<std::size_t>(1, (count + most - 1) / most)) {}
  std::size_t of(std::size_t i) const { return i / size_; }

 private:
  std::size_t size_;
};

void extend(std::vector<StepMap::Range>& ranges, std::size_t cell, std::int64_t number) {
  if (cell == ranges.size()) ranges.push_back({number, number});
  ranges[cell].last = number;
}

}  // namespace

StepMap step_map(const Job& job, std::size_t most_rows, std::size_t most_columns) {
  StepMap map;
  const Cells rows(job.summaries.size(), most_rows), columns(job.steps.size(), most_columns);
  std::unordered_map<std::int64_t, std::size_t> column_of_step;
  for (std::size_t i = 0; i < job.steps.size(); ++i) {
    column_of_step[job.steps[i].number] = columns.of(i);
    extend(map.steps, columns.of(i), job.steps[i].number);
  }
  for (std::size_t k = 0; k < job.summaries.size(); ++k) extend(map.ranks, rows.of(k), job.summaries[k].identity.rank);
  map.longest_ns.assign(map.ranks.size() * map.columns(), -1);
  for (std::size_t k = 0; k < job.summaries.size(); ++k) {
    for (const RankStep& step : job.summaries[k].steps) {
      const auto column = column_of_step.find(step.number);
      if (column == column_of_step.end()) continue;
      std::int64_t& longest = map.longest_ns[rows.of(k) * map.columns() + column->second];
      longest = std::max(longest, step.busy_ns());
    }
  }
  return map;
}

}  // namespace mindtorch::analyze

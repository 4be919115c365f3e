// Stragglers: the ranks that others wait for, and the work in which they lose time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mindtorch/analyze/ranks/critical_path.h"
#include "mindtorch/analyze/ranks/rank_summary.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// The time that a job lost because others waited for one rank, and the work in which it was lost.
struct LostWork {
  std::string name;
  RankWork::Kind kind = RankWork::Kind::kOp;
  double seconds = 0;  // that this rank spent more than the median of the others
};
struct Straggler {
  std::uint32_t rank = 0;      // index into the summaries
  double seconds = 0;          // lost, in all steps together
  double share = 0;            // of the time of the path
  std::size_t steps = 0;       // in which time was lost
  std::vector<LostWork> work;  // with most time first
};

// Ranks that cost at least this share of the time are stragglers.
inline constexpr double kStragglerShare = 0.01;

// Worst first.
MINDTORCH_EXPORT std::vector<Straggler> find_stragglers(std::span<const RankSummary> ranks, std::span<const PathPiece> path);

}  // namespace mindtorch::analyze

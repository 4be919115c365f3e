// Critical path: the chain of work and collectives, across ranks, that determined how long the job took.
//
// A collective ends when its last rank has entered it. The path goes back from the last collective to the rank that entered it last, along
// the work of this rank to the collective that it left before, and so on. Only times of one rank are compared with each other, so the
// result does not depend on how well the clocks agree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mindtorch/analyze/ranks/matching.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// The work of one rank between two collectives, and the collective that it entered last.
struct PathPiece {
  std::uint32_t rank = 0;           // index into the summaries
  std::size_t collective = 0;       // index into Matching::collectives
  std::int64_t work_start_ns = 0;   // of the rank's own clock; equal to work_end_ns if nothing is known before the collective
  std::int64_t work_end_ns = 0;     // when it entered the collective
  std::int64_t end_ns = 0;          // when it left the collective
  std::int64_t late_ns = 0;         // by how much its work took longer than the median of the other ranks' work; not negative
  std::vector<std::int64_t> steps;  // the numbers of the steps in which the work began and ended
  friend bool operator==(const PathPiece&, const PathPiece&) = default;
};

// In order of time. Empty if no two ranks share a synchronising collective. O(parts of collectives * log).
MINDTORCH_EXPORT std::vector<PathPiece> critical_path(std::span<const RankSummary> ranks, const Matching& matching);

}  // namespace mindtorch::analyze

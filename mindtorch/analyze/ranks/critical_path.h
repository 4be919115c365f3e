// Critical path: the chain of work and collectives, across ranks, that determined how long the job took.
//
// A collective ends when its last rank has entered it. The path goes back from the last collective to the rank that entered it last, along
// the work of this rank to the collective that it left before, and so on. Only times of one rank are compared with each other, so the
// result does not depend on how well the clocks agree. A message leads to the sender if the receiver waited for it. Clocks tell whether it
// did; where they are not known well enough, the rank that took part for the longer time waited.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mindtorch/analyze/ranks/clock_alignment.h"
#include "mindtorch/analyze/ranks/matching.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// The work of one rank between two collectives or messages, and the one that it entered last.
struct PathPiece {
  std::uint32_t rank = 0;           // index into the summaries
  std::size_t collective = 0;       // index into Matching::collectives
  std::int64_t work_start_ns = 0;   // of the rank's own clock; equal to work_end_ns if nothing is known before the collective
  std::int64_t work_end_ns = 0;     // when it entered the collective
  std::int64_t end_ns = 0;          // when it left the collective
  std::int64_t late_ns = 0;         // by how much its work took longer than the other ranks' work; not negative
  std::vector<std::int64_t> steps;  // the numbers of the steps in which the work began and ended
  friend bool operator==(const PathPiece&, const PathPiece&) = default;
};

// In order of time. Empty if no two ranks share a synchronising collective or a message. Between collectives, the work of a rank is
// compared with the median of the work of the other ranks. The ranks of a pipeline, which meet in messages, do different work at different
// times: there the part of the work counts by which the rank is busier in the step than the median of the other ranks. O(parts * log).
MINDTORCH_EXPORT std::vector<PathPiece> critical_path(std::span<const RankSummary> ranks, const Matching& matching,
                                                      const ClockAlignment& clocks);

}  // namespace mindtorch::analyze

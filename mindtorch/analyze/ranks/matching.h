// Matching: which collectives of several ranks are the same one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mindtorch/analyze/ranks/rank_summary.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// One rank's part in a collective.
struct CollectivePart {
  std::uint32_t rank = 0;  // index into the summaries
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t duration_ns() const { return end_ns - start_ns; }
  friend bool operator==(const CollectivePart&, const CollectivePart&) = default;
};

struct MatchedCollective {
  std::string name;
  std::string group;
  CollectiveKind kind = CollectiveKind::kOther;
  std::int64_t bytes = -1;
  std::int64_t step = -1;
  std::int64_t sequence = -1;
  std::vector<CollectivePart> parts;  // in order of the ranks
  bool synchronises() const { return parts.size() > 1 && is_synchronising(kind); }
};

struct Matching {
  std::vector<MatchedCollective> collectives;  // in the order in which the first of their ranks began them
  std::vector<std::uint64_t> unmatched;        // by rank: collectives of steps that other ranks have too, without a counterpart there
};

// Collectives are the same if they have the same number in the same group, if the recordings tell it. Otherwise they are the same if they
// are the n-th of the same group in the same step. Messages between two ranks are not matched. Linear in the number of collectives.
MINDTORCH_EXPORT Matching match_collectives(std::span<const RankSummary> ranks);

}  // namespace mindtorch::analyze

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
  std::vector<CollectivePart> parts;  // in order of the ranks; without those that had not finished
  bool is_unfinished = false;         // on some rank, so that it is not known who entered it last
  std::uint32_t sender = 0;           // of a message: the rank that sends, an index into the summaries
  bool synchronises() const { return parts.size() > 1 && !is_unfinished && is_synchronising(kind); }
  bool is_message() const { return parts.size() == 2 && kind == CollectiveKind::kSend; }
  // Whether a rank may have waited for another one there.
  bool meets() const { return synchronises() || is_message(); }
  const CollectivePart& sent() const { return parts[parts[0].rank == sender ? 0 : 1]; }
  const CollectivePart& received() const { return parts[parts[0].rank == sender ? 1 : 0]; }
};

struct Matching {
  std::vector<MatchedCollective> collectives;  // in the order in which the first of their ranks began them
  std::vector<std::uint64_t> unmatched;        // by rank: collectives of steps that other ranks have too, without a counterpart there
};

// Collectives are the same if they have the same number in the same group, if the recordings tell it. Otherwise they are the same if they
// are the n-th of the same group in the same step. The n-th send of a step from one rank to another, with one tag, is the same message as
// the n-th recv; messages whose peer is not known are left out. Linear in the number of collectives.
MINDTORCH_EXPORT Matching match_collectives(std::span<const RankSummary> ranks);

}  // namespace mindtorch::analyze

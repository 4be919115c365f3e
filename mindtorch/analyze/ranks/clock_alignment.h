// Clock alignment: how far the clocks of a job's machines are apart, from the collectives that the ranks took part in.
//
// No rank can leave a synchronising collective before the last rank has entered it. Each collective therefore limits how far two clocks
// can be apart, from both sides, whatever the network does. No rank can have received a message before it was sent: messages limit from
// one side, and those of both directions together from both. The offset lies where all these limits hold; half of the room that they leave
// is the error bound.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mindtorch/analyze/ranks/matching.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// From a moment of the rank's own clock on, that clock is `offset_ns` ahead of the common clock, give or take `error_ns`.
struct ClockPiece {
  std::int64_t from_ns = INT64_MIN;
  std::int64_t offset_ns = 0;
  std::int64_t error_ns = 0;
  std::uint64_t collectives = 0;  // and messages that the piece was estimated from
  friend bool operator==(const ClockPiece&, const ClockPiece&) = default;
};

struct MINDTORCH_EXPORT RankClock {
  // In order of time. There are several if the clock jumped, or drifted further than the limits allow. Empty if no collective connects the
  // rank with the common clock.
  std::vector<ClockPiece> pieces;

  bool is_known() const { return !pieces.empty(); }
  const ClockPiece& piece_at(std::int64_t time_ns) const;
  // A time of the rank's own clock on the common clock; unchanged if the offset is not known.
  std::int64_t to_common(std::int64_t time_ns) const { return is_known() ? time_ns - piece_at(time_ns).offset_ns : time_ns; }
};

struct ClockAlignment {
  std::size_t reference = 0;  // the rank whose clock is the common clock
  std::vector<RankClock> clocks;
};

// O(parts of collectives), for at most a few rounds.
MINDTORCH_EXPORT ClockAlignment align_clocks(const Matching& matching, std::size_t ranks);

}  // namespace mindtorch::analyze

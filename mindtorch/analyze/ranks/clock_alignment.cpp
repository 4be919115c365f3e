// The limits on offsets form a system of differences. Each collective has one unknown, the moment at which its last rank entered it, so
// the work of a round is linear in the number of ranks.
#include "mindtorch/analyze/ranks/clock_alignment.h"

#include <algorithm>
#include <utility>

#include "mindtorch/base/statistics.h"

namespace mindtorch::analyze {
namespace {

struct Range {
  std::int64_t low = INT64_MIN;
  std::int64_t high = INT64_MAX;
  bool is_limited() const { return low != INT64_MIN && high != INT64_MAX; }
  bool is_empty() const { return low > high; }
  void cut(const Range& other) { low = std::max(low, other.low), high = std::min(high, other.high); }
};

// A clock between two jumps.
struct Unknown {
  std::int64_t from_ns = INT64_MIN;
  Range offset;
  std::int64_t estimate = 0;
  std::uint64_t meetings = 0;
  std::vector<std::int64_t> end_differences;
};

// One rank's part in one of the collectives and messages that are used.
struct Use {
  std::uint32_t rank;
  std::uint32_t piece;  // of the rank's clock
  std::int64_t start_ns;
  std::int64_t end_ns;
};

struct Meeting {
  bool is_message = false;
  std::vector<Use> uses;  // of a message: the sender's and then the receiver's
};

constexpr std::uint32_t kNoPiece = UINT32_MAX;
constexpr int kRounds = 12;

class System {
 public:
  System(const Matching& matching, std::size_t ranks, std::size_t reference) : reference_(reference), clocks_(ranks) {
    for (const MatchedCollective& collective : matching.collectives) {
      if (!collective.meets()) continue;
      Meeting& meeting = meetings_.emplace_back();
      meeting.is_message = collective.is_message();
      for (const CollectivePart& part : collective.parts)
        meeting.uses.push_back({part.rank, part.rank == reference ? 0 : kNoPiece, part.start_ns, part.end_ns});
      if (meeting.is_message && collective.parts[1].rank == collective.sender) std::swap(meeting.uses[0], meeting.uses[1]);
    }
    clocks_[reference].push_back({.offset = {0, 0}});
    while (connect_more()) {
    }
    for (int round = 0; round < kRounds && tighten(); ++round) {
    }
  }

  std::size_t jumps() const {
    std::size_t count = 0;
    for (const auto& pieces : clocks_) count += pieces.size() > 1 ? pieces.size() - 1 : 0;
    return count;
  }

  ClockAlignment result() {
    estimate();
    ClockAlignment alignment{.reference = reference_};
    for (const std::vector<Unknown>& pieces : clocks_) {
      RankClock& clock = alignment.clocks.emplace_back();
      for (const Unknown& piece : pieces) {
        clock.pieces.push_back({piece.from_ns, piece.estimate,
                                std::max(piece.offset.high - piece.estimate, piece.estimate - piece.offset.low), piece.meetings});
      }
    }
    return alignment;
  }

 private:
  bool is_known(const Use& use) const { return !clocks_[use.rank].empty(); }
  const Range& offset_of(const Use& use) const { return clocks_[use.rank][use.piece].offset; }

  // When the last rank entered a collective, on the common clock, as far as the offsets are known.
  Range last_entry(const Meeting& meeting) const {
    Range range;
    for (const Use& use : meeting.uses) {
      if (meeting.is_message || !is_known(use)) continue;
      const Range& offset = offset_of(use);
      range.cut({use.start_ns - offset.high, use.end_ns - offset.low});
    }
    return range;
  }

  // What a meeting tells about the clock of one of its ranks. `entry` is its last entry.
  Range offset_limits(const Meeting& meeting, const Use& use, const Range& entry) const {
    if (!meeting.is_message) return entry.is_limited() ? Range{use.start_ns - entry.high, use.end_ns - entry.low} : Range{};
    const Use &sender = meeting.uses[0], &receiver = meeting.uses[1];
    const std::int64_t most = receiver.end_ns - sender.start_ns;  // the receiver's offset minus the sender's
    if (&use == &receiver && is_known(sender)) return {INT64_MIN, offset_of(sender).high + most};
    if (&use == &sender && is_known(receiver)) return {offset_of(receiver).low - most, INT64_MAX};
    return {};
  }

  // Adds the ranks that share collectives, or messages of both directions, with ranks whose clocks are known. Limits that contradict the
  // earlier ones begin a new piece of the clock.
  bool connect_more() {
    std::vector<std::vector<Unknown>> found(clocks_.size());
    for (Meeting& meeting : meetings_) {
      const Range entry = last_entry(meeting);
      for (Use& use : meeting.uses) {
        const Range limits = is_known(use) ? Range{} : offset_limits(meeting, use, entry);
        if (limits.low == INT64_MIN && limits.high == INT64_MAX) continue;
        std::vector<Unknown>& pieces = found[use.rank];
        if (pieces.empty()) pieces.emplace_back();
        Range cut = pieces.back().offset;
        cut.cut(limits);
        if (cut.is_empty()) {
          pieces.push_back({.from_ns = use.start_ns, .offset = limits});
        } else {
          pieces.back().offset = cut;
        }
      }
    }
    bool is_more = false;
    for (std::size_t rank = 0; rank < clocks_.size(); ++rank) {
      std::erase_if(found[rank], [](const Unknown& piece) { return !piece.offset.is_limited(); });
      if (found[rank].empty()) continue;
      found[rank].front().from_ns = INT64_MIN;
      clocks_[rank] = std::move(found[rank]);
      is_more = true;
    }
    if (is_more) find_pieces();
    return is_more;
  }

  // The pieces of the clocks at the time of each use.
  void find_pieces() {
    for (Meeting& meeting : meetings_) {
      for (Use& use : meeting.uses) {
        const std::vector<Unknown>& pieces = clocks_[use.rank];
        if (use.piece != kNoPiece || pieces.empty()) continue;
        const auto after = std::ranges::upper_bound(pieces, use.start_ns, {}, &Unknown::from_ns);
        use.piece = static_cast<std::uint32_t>(after - pieces.begin() - 1);
      }
    }
  }

  // Limits that contradict each other, as those of a drifting clock, change nothing.
  bool tighten() {
    bool is_changed = false;
    for (const Meeting& meeting : meetings_) {
      const Range entry = last_entry(meeting);
      if (entry.is_empty()) continue;
      for (const Use& use : meeting.uses) {
        if (!is_known(use)) continue;
        Range& offset = clocks_[use.rank][use.piece].offset;
        Range cut = offset;
        cut.cut(offset_limits(meeting, use, entry));
        if (cut.is_empty() || (cut.low == offset.low && cut.high == offset.high)) continue;
        offset = cut;
        is_changed = true;
      }
    }
    return is_changed;
  }

  // Ranks leave a collective at nearly the same moment, so the median difference of their ends is a good guess. Where it contradicts the
  // limits, the limits are right. Where there are messages only, their limits are about equally far from the truth on both sides.
  void estimate() {
    for (const Meeting& meeting : meetings_) {
      const auto anchor = std::ranges::find(meeting.uses, static_cast<std::uint32_t>(reference_), &Use::rank);
      for (const Use& use : meeting.uses) {
        if (!is_known(use)) continue;
        Unknown& clock = clocks_[use.rank][use.piece];
        const Range entry = anchor == meeting.uses.end() ? last_entry(meeting) : Range{anchor->end_ns, anchor->end_ns};
        if (!meeting.is_message && entry.is_limited())
          clock.end_differences.push_back(use.end_ns - (entry.low + (entry.high - entry.low) / 2));
        ++clock.meetings;
      }
    }
    for (std::vector<Unknown>& pieces : clocks_) {
      for (Unknown& piece : pieces) {
        const Range& offset = piece.offset;
        piece.estimate = piece.end_differences.empty() ? offset.low + (offset.high - offset.low) / 2
                                                       : median_of(piece.end_differences, EvenMedian::kLower);
        piece.estimate = std::clamp(piece.estimate, offset.low, std::max(offset.low, offset.high));
      }
    }
  }

  std::size_t reference_;
  std::vector<std::vector<Unknown>> clocks_;  // by rank
  std::vector<Meeting> meetings_;
};

}  // namespace

const ClockPiece& RankClock::piece_at(std::int64_t time_ns) const {
  for (std::size_t k = pieces.size(); k-- > 1;) {
    if (pieces[k].from_ns <= time_ns) return pieces[k];
  }
  return pieces.front();
}

ClockAlignment align_clocks(const Matching& matching, std::size_t ranks) {
  if (ranks == 0) return {};
  // If the reference itself jumps, all other clocks seem to: another reference then needs fewer pieces.
  System best(matching, ranks, 0);
  for (std::size_t reference = 1; reference < std::min<std::size_t>(ranks, 3) && 2 * best.jumps() >= ranks; ++reference) {
    System system(matching, ranks, reference);
    if (system.jumps() < best.jumps()) best = std::move(system);
  }
  return best.result();
}

}  // namespace mindtorch::analyze

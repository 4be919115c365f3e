// The limits on offsets form a system of differences. Each collective has one unknown, the moment at which its last rank entered it, so
// the work of a round is linear in the number of ranks.
#include "mindtorch/analyze/ranks/clock_alignment.h"

#include <algorithm>

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
  std::vector<std::int64_t> end_differences;
};

// One rank's part in one of the collectives that are used.
struct Use {
  std::uint32_t rank;
  std::uint32_t piece;  // of the rank's clock
  std::int64_t start_ns;
  std::int64_t end_ns;
};

constexpr std::uint32_t kNoPiece = UINT32_MAX;
constexpr int kRounds = 12;

class System {
 public:
  System(const Matching& matching, std::size_t ranks, std::size_t reference) : reference_(reference), clocks_(ranks) {
    for (const MatchedCollective& collective : matching.collectives) {
      if (!collective.synchronises()) continue;
      std::vector<Use>& uses = collectives_.emplace_back();
      for (const CollectivePart& part : collective.parts)
        uses.push_back({part.rank, part.rank == reference ? 0 : kNoPiece, part.start_ns, part.end_ns});
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
                                std::max(piece.offset.high - piece.estimate, piece.estimate - piece.offset.low),
                                piece.end_differences.size()});
      }
    }
    return alignment;
  }

 private:
  // When the last rank entered a collective, on the common clock, as far as the offsets are known.
  Range last_entry(const std::vector<Use>& uses) const {
    Range range;
    for (const Use& use : uses) {
      if (clocks_[use.rank].empty()) continue;
      const Range& offset = clocks_[use.rank][use.piece].offset;
      range.cut({use.start_ns - offset.high, use.end_ns - offset.low});
    }
    return range;
  }

  static Range offset_limits(const Use& use, const Range& entry) { return {use.start_ns - entry.high, use.end_ns - entry.low}; }

  // Adds the ranks that share a collective with a rank whose clock is known. A collective whose limits contradict the earlier ones begins
  // a new piece of the clock.
  bool connect_more() {
    std::vector<std::vector<Unknown>> found(clocks_.size());
    for (std::vector<Use>& uses : collectives_) {
      const Range entry = last_entry(uses);
      if (!entry.is_limited()) continue;
      for (Use& use : uses) {
        if (!clocks_[use.rank].empty()) continue;
        std::vector<Unknown>& pieces = found[use.rank];
        const Range limits = offset_limits(use, entry);
        if (pieces.empty()) pieces.emplace_back();
        Range cut = pieces.back().offset;
        cut.cut(limits);
        if (cut.is_empty()) {
          pieces.push_back({.from_ns = use.start_ns, .offset = limits});
        } else {
          pieces.back().offset = cut;
        }
        use.piece = static_cast<std::uint32_t>(pieces.size() - 1);
      }
    }
    bool is_more = false;
    for (std::size_t rank = 0; rank < clocks_.size(); ++rank) {
      if (found[rank].empty()) continue;
      clocks_[rank] = std::move(found[rank]);
      is_more = true;
    }
    if (is_more) find_pieces();
    return is_more;
  }

  // Collectives that did not connect a rank have their part in one of its pieces too.
  void find_pieces() {
    for (std::vector<Use>& uses : collectives_) {
      for (Use& use : uses) {
        const std::vector<Unknown>& pieces = clocks_[use.rank];
        if (use.piece != kNoPiece) continue;
        const auto after = std::ranges::upper_bound(pieces, use.start_ns, {}, &Unknown::from_ns);
        if (after != pieces.begin()) use.piece = static_cast<std::uint32_t>(after - pieces.begin() - 1);
      }
    }
  }

  // Limits that contradict each other, as those of a drifting clock, change nothing.
  bool tighten() {
    bool is_changed = false;
    for (const std::vector<Use>& uses : collectives_) {
      const Range entry = last_entry(uses);
      if (!entry.is_limited() || entry.is_empty()) continue;
      for (const Use& use : uses) {
        if (clocks_[use.rank].empty()) continue;
        Range& offset = clocks_[use.rank][use.piece].offset;
        Range cut = offset;
        cut.cut(offset_limits(use, entry));
        if (cut.is_empty() || (cut.low == offset.low && cut.high == offset.high)) continue;
        offset = cut;
        is_changed = true;
      }
    }
    return is_changed;
  }

  // Ranks leave a collective at nearly the same moment, so the median difference of their ends is a good guess. Where it contradicts the
  // limits, the limits are right.
  void estimate() {
    for (const std::vector<Use>& uses : collectives_) {
      const auto anchor = std::ranges::find(uses, static_cast<std::uint32_t>(reference_), &Use::rank);
      for (const Use& use : uses) {
        if (clocks_[use.rank].empty()) continue;
        Unknown& clock = clocks_[use.rank][use.piece];
        const Range entry = anchor == uses.end() ? last_entry(uses) : Range{anchor->end_ns, anchor->end_ns};
        if (entry.is_limited()) clock.end_differences.push_back(use.end_ns - (entry.low + (entry.high - entry.low) / 2));
      }
    }
    for (std::vector<Unknown>& pieces : clocks_) {
      for (Unknown& piece : pieces) {
        std::vector<std::int64_t>& all = piece.end_differences;
        if (!all.empty()) {
          const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
          std::ranges::nth_element(all, middle);
          piece.estimate = *middle;
        }
        piece.estimate = std::clamp(piece.estimate, piece.offset.low, std::max(piece.offset.low, piece.offset.high));
      }
    }
  }

  std::size_t reference_;
  std::vector<std::vector<Unknown>> clocks_;  // by rank
  std::vector<std::vector<Use>> collectives_;
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

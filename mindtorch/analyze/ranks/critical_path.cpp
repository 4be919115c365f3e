// Walks the path backwards.
#include "mindtorch/analyze/ranks/critical_path.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "mindtorch/base/statistics.h"

namespace mindtorch::analyze {
namespace {

// How long each rank was busy in each step.
class BusySteps {
 public:
  explicit BusySteps(std::span<const RankSummary> ranks) {
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
      for (const RankStep& step : ranks[rank].steps) {
        const std::int64_t number = ranks[rank].has_step_marks ? step.number : -1;
        busy_[number].push_back({rank, step.busy_ns()});
      }
    }
  }

  // The part of its time in these steps that a rank is busy longer than the median of the other ranks.
  double excess_share(std::uint32_t rank, std::span<const std::int64_t> steps) const {
    std::int64_t own = 0, usual = 0;
    for (const std::int64_t step : steps) {
      const auto found = busy_.find(step);
      if (found == busy_.end()) continue;
      std::vector<std::int64_t> others;
      for (const auto& [other, busy_ns] : found->second) {
        if (other == rank) own += busy_ns;
        if (other != rank) others.push_back(busy_ns);
      }
      usual += median_of(others, EvenMedian::kLower);
    }
    return own > 0 && usual > 0 ? std::max(0.0, 1 - static_cast<double>(usual) / static_cast<double>(own)) : 0;
  }

 private:
  struct Busy {
    std::uint32_t rank;
    std::int64_t busy_ns;
  };
  std::map<std::int64_t, std::vector<Busy>> busy_;  // by the number of the step
};

class Walk {
 public:
  Walk(std::span<const RankSummary> ranks, const Matching& matching, const ClockAlignment& clocks)
      : ranks_(ranks), matching_(matching), clocks_(clocks.clocks), busy_(ranks), left_(ranks.size()) {
    for (std::size_t k = 0; k < matching.collectives.size(); ++k) {
      const MatchedCollective& collective = matching.collectives[k];
      if (!collective.meets()) continue;
      for (const CollectivePart& part : collective.parts) {
        if (may_have_waited(collective, part)) left_[part.rank].push_back({part.end_ns, k});
      }
    }
    for (std::vector<Left>& of_rank : left_) std::ranges::sort(of_rank);
  }

  std::vector<PathPiece> finish() {
    std::vector<PathPiece> path;
    std::vector<bool> is_visited(matching_.collectives.size());
    for (std::optional<std::size_t> at = last(); at && !is_visited[*at];) {
      is_visited[*at] = true;
      path.push_back(piece(*at));
      at = before_;
    }
    std::ranges::reverse(path);
    return path;
  }

 private:
  struct Left {
    std::int64_t end_ns;
    std::size_t collective;
    friend auto operator<=>(const Left&, const Left&) = default;
  };

  // By how much `b` is later than `a`, if the clocks are known well enough to tell which is later.
  std::optional<std::int64_t> later_by(std::uint32_t rank_a, std::int64_t a, std::uint32_t rank_b, std::int64_t b) const {
    const RankClock &clock_a = clocks_[rank_a], &clock_b = clocks_[rank_b];
    if (!clock_a.is_known() || !clock_b.is_known()) return std::nullopt;
    const std::int64_t difference = clock_b.to_common(b) - clock_a.to_common(a);
    const bool is_certain = std::abs(difference) > clock_a.piece_at(a).error_ns + clock_b.piece_at(b).error_ns;
    return is_certain ? std::optional(difference) : std::nullopt;
  }

  // A sender that was done before the receiver came did not wait for it.
  bool may_have_waited(const MatchedCollective& collective, const CollectivePart& part) const {
    if (!collective.is_message() || part.rank != collective.sender) return true;
    const CollectivePart& received = collective.received();
    return later_by(part.rank, part.end_ns, received.rank, received.start_ns).value_or(0) <= 0;
  }

  const CollectivePart& last_to_enter(const MatchedCollective& collective) const {
    // All ranks leave at the same moment, so the rank that was in it for the shortest time entered it last.
    if (!collective.is_message()) return *std::ranges::min_element(collective.parts, {}, &CollectivePart::duration_ns);
    const CollectivePart &sent = collective.sent(), &received = collective.received();
    const std::int64_t longer = received.duration_ns() - sent.duration_ns();
    return later_by(received.rank, received.start_ns, sent.rank, sent.start_ns).value_or(longer) > 0 ? sent : received;
  }

  // The last one that any rank left, as far as clocks are known.
  std::optional<std::size_t> last() const {
    std::optional<std::size_t> latest;
    std::int64_t latest_ns = INT64_MIN;
    for (std::size_t rank = 0; rank < left_.size(); ++rank) {
      if (left_[rank].empty() || (latest && !clocks_[rank].is_known())) continue;
      const std::int64_t end_ns = clocks_[rank].to_common(left_[rank].back().end_ns);
      if (!latest || end_ns > latest_ns) latest = left_[rank].back().collective, latest_ns = end_ns;
    }
    return latest;
  }

  // The last collective that a rank left before a moment.
  std::optional<std::size_t> left_before(std::uint32_t rank, std::int64_t time_ns) const {
    const auto after = std::ranges::upper_bound(left_[rank], time_ns, {}, &Left::end_ns);
    if (after == left_[rank].begin()) return std::nullopt;
    return (after - 1)->collective;
  }

  PathPiece piece(std::size_t index) {
    const MatchedCollective& collective = matching_.collectives[index];
    const CollectivePart& last = last_to_enter(collective);
    PathPiece piece{.rank = last.rank, .collective = index, .work_start_ns = last.start_ns, .work_end_ns = last.start_ns};
    piece.end_ns = last.end_ns;
    before_ = left_before(last.rank, last.start_ns);
    if (before_) {
      compare_from_collective(collective, matching_.collectives[*before_], piece);
    } else {
      compare_from_step(collective, piece);
    }
    if (collective.is_message() || (before_ && matching_.collectives[*before_].is_message())) {
      const double work = static_cast<double>(piece.work_end_ns - piece.work_start_ns);
      piece.late_ns = static_cast<std::int64_t>(work * busy_.excess_share(piece.rank, piece.steps));
    }
    return piece;
  }

  // The parts of both are in the order of the ranks.
  void compare_from_collective(const MatchedCollective& collective, const MatchedCollective& before, PathPiece& piece) const {
    std::vector<std::int64_t> others;
    auto left = before.parts.begin();
    for (const CollectivePart& part : collective.parts) {
      while (left != before.parts.end() && left->rank < part.rank) ++left;
      if (left == before.parts.end()) break;
      if (left->rank != part.rank) continue;
      if (part.rank == piece.rank) {
        piece.work_start_ns = left->end_ns;
      } else {
        others.push_back(part.start_ns - left->end_ns);
      }
    }
    set_late(others, piece);
    piece.steps = {before.step, collective.step};
    if (before.step == collective.step) piece.steps.pop_back();
  }

  void compare_from_step(const MatchedCollective& collective, PathPiece& piece) const {
    std::vector<std::int64_t> others;
    for (const CollectivePart& part : collective.parts) {
      const auto& steps = ranks_[part.rank].steps;
      const auto step = std::ranges::find(steps, collective.step, &RankStep::number);
      if (step == steps.end()) continue;
      if (part.rank == piece.rank) {
        piece.work_start_ns = step->start_ns;
      } else {
        others.push_back(part.start_ns - step->start_ns);
      }
    }
    set_late(others, piece);
    piece.steps = {collective.step};
  }

  // Others may have entered the collective before the one before it was over. They wait from the beginning of the piece then.
  static void set_late(std::vector<std::int64_t>& others, PathPiece& piece) {
    if (others.empty()) return;
    const std::int64_t usual = std::max<std::int64_t>(0, median_of(others, EvenMedian::kLower));
    piece.late_ns = std::max<std::int64_t>(0, piece.work_end_ns - piece.work_start_ns - usual);
  }

  std::span<const RankSummary> ranks_;
  const Matching& matching_;
  std::span<const RankClock> clocks_;
  BusySteps busy_;
  std::vector<std::vector<Left>> left_;  // by rank, in order of time
  std::optional<std::size_t> before_;    // the collective that the piece made last begins with
};

}  // namespace

std::vector<PathPiece> critical_path(std::span<const RankSummary> ranks, const Matching& matching, const ClockAlignment& clocks) {
  return Walk(ranks, matching, clocks).finish();
}

}  // namespace mindtorch::analyze

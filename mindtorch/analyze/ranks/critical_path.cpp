// Walks the path backwards.
#include "mindtorch/analyze/ranks/critical_path.h"

#include <algorithm>
#include <optional>

#include "mindtorch/analyze/ranks/median.h"

namespace mindtorch::analyze {
namespace {

class Walk {
 public:
  Walk(std::span<const RankSummary> ranks, const Matching& matching) : ranks_(ranks), matching_(matching), left_(ranks.size()) {
    for (std::size_t k = 0; k < matching.collectives.size(); ++k) {
      if (!matching.collectives[k].synchronises()) continue;
      for (const CollectivePart& part : matching.collectives[k].parts) left_[part.rank].push_back({part.end_ns, k});
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

  // The collective with the latest place in the order of most ranks: the last one that the first rank with any left.
  std::optional<std::size_t> last() const {
    for (const std::vector<Left>& of_rank : left_) {
      if (!of_rank.empty()) return of_rank.back().collective;
    }
    return std::nullopt;
  }

  // The last collective that a rank left before a moment.
  std::optional<std::size_t> left_before(std::uint32_t rank, std::int64_t time_ns) const {
    const auto after = std::ranges::upper_bound(left_[rank], time_ns, {}, &Left::end_ns);
    if (after == left_[rank].begin()) return std::nullopt;
    return (after - 1)->collective;
  }

  PathPiece piece(std::size_t index) {
    const MatchedCollective& collective = matching_.collectives[index];
    // All ranks leave at the same moment, so the rank that was in it for the shortest time entered it last.
    const CollectivePart& last = *std::ranges::min_element(collective.parts, {}, &CollectivePart::duration_ns);
    PathPiece piece{.rank = last.rank, .collective = index, .work_start_ns = last.start_ns, .work_end_ns = last.start_ns};
    piece.end_ns = last.end_ns;
    before_ = left_before(last.rank, last.start_ns);
    if (before_) {
      compare_from_collective(collective, matching_.collectives[*before_], piece);
    } else {
      compare_from_step(collective, piece);
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
    const std::int64_t usual = std::max<std::int64_t>(0, median_of(others));
    piece.late_ns = std::max<std::int64_t>(0, piece.work_end_ns - piece.work_start_ns - usual);
  }

  std::span<const RankSummary> ranks_;
  const Matching& matching_;
  std::vector<std::vector<Left>> left_;  // by rank, in order of time
  std::optional<std::size_t> before_;    // the collective that the piece made last begins with
};

}  // namespace

std::vector<PathPiece> critical_path(std::span<const RankSummary> ranks, const Matching& matching) {
  return Walk(ranks, matching).finish();
}

}  // namespace mindtorch::analyze

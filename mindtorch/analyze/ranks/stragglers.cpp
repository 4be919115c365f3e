// Adds up what was lost on the critical path by rank, and finds the work in which it was lost.
#include "mindtorch/analyze/ranks/stragglers.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "mindtorch/base/statistics.h"

namespace mindtorch::analyze {
namespace {

constexpr std::size_t kMostStragglers = 32;
constexpr std::size_t kMostLostWork = 8;
constexpr double kSlowStepShare = 0.25;  // of what a rank loses in a step on average

using WorkKey = std::pair<RankWork::Kind, std::string_view>;

std::map<WorkKey, const RankWork*> rows_by_key(const RankSummary& rank) {
  std::map<WorkKey, const RankWork*> rows;
  for (const RankWork& row : rank.work) rows.emplace(WorkKey{row.kind, row.name}, &row);
  return rows;
}

// Places of the given steps in a rank's list of steps.
std::vector<std::size_t> places_of(const RankSummary& rank, const std::set<std::int64_t>& numbers) {
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < rank.steps.size(); ++k) {
    if (!rank.has_step_marks || numbers.contains(rank.steps[k].number)) places.push_back(k);
  }
  return places;
}

double mean_seconds(const RankWork& row, const std::vector<std::size_t>& places) {
  double sum = 0;
  for (const std::size_t place : places) sum += static_cast<double>(row.seconds[place]);
  return places.empty() ? 0 : sum / static_cast<double>(places.size());
}

// Compares the rank's mean time per step of each row with the median of the other ranks.
std::vector<LostWork> lost_work(std::span<const RankSummary> ranks, std::uint32_t slow, const std::set<std::int64_t>& steps) {
  const std::vector<std::size_t> own_places = places_of(ranks[slow], steps);
  std::vector<std::vector<double>> others(ranks[slow].work.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (rank == slow) continue;
    const std::vector<std::size_t> places = places_of(ranks[rank], steps);
    if (places.empty()) continue;
    const auto rows = rows_by_key(ranks[rank]);
    for (std::size_t k = 0; k < others.size(); ++k) {
      const RankWork& own = ranks[slow].work[k];
      const auto same = rows.find({own.kind, own.name});
      others[k].push_back(same == rows.end() ? 0 : mean_seconds(*same->second, places));
    }
  }
  std::vector<LostWork> lost;
  for (std::size_t k = 0; k < others.size(); ++k) {
    const RankWork& own = ranks[slow].work[k];
    const double more = (mean_seconds(own, own_places) - median_of(others[k], EvenMedian::kLower)) * static_cast<double>(own_places.size());
    if (more > 0) lost.push_back({own.name, own.kind, more});
  }
  std::ranges::stable_sort(lost, std::ranges::greater{}, &LostWork::seconds);
  lost.resize(std::min(lost.size(), kMostLostWork));
  return lost;
}

using SecondsOfSteps = std::map<std::int64_t, double>;  // by the number of the step

SecondsOfSteps work_of_steps(const RankSummary& rank) {
  SecondsOfSteps seconds;
  for (std::size_t k = 0; k < rank.steps.size(); ++k) {
    double& sum = seconds[rank.steps[k].number];
    for (const RankWork& row : rank.work) sum += static_cast<double>(row.seconds[k]);
  }
  return seconds;
}

// By how much each rank worked longer in a step than the median of all ranks.
class MoreWork {
 public:
  explicit MoreWork(std::span<const RankSummary> ranks) {
    std::map<std::int64_t, std::vector<double>> of_all;
    for (const RankSummary& rank : ranks) {
      for (const auto& [step, seconds] : work_of_rank_.emplace_back(work_of_steps(rank))) of_all[step].push_back(seconds);
    }
    for (auto& [step, seconds] : of_all) median_[step] = median_of(seconds, EvenMedian::kLower);
  }

  // Not negative.
  double of(std::uint32_t rank, std::int64_t step) const {
    const auto own = work_of_rank_[rank].find(step);
    return own == work_of_rank_[rank].end() ? 0 : std::max(0.0, own->second - median_.at(step));
  }

 private:
  std::vector<SecondsOfSteps> work_of_rank_;
  SecondsOfSteps median_;
};

// The work before the first collective of a step begins in the step before. What was lost there belongs to the step in which the rank
// worked longer than others.
void add_loss(const PathPiece& piece, const MoreWork& more, SecondsOfSteps& lost) {
  const double seconds = static_cast<double>(piece.late_ns) * 1e-9;
  double whole = 0;
  for (const std::int64_t step : piece.steps) whole += more.of(piece.rank, step);
  for (const std::int64_t step : piece.steps)
    lost[step] += seconds * (whole > 0 ? more.of(piece.rank, step) / whole : 1 / static_cast<double>(piece.steps.size()));
}

// Leaves out steps in which a rank lost little: other ranks may be the slow ones there.
std::set<std::int64_t> slow_steps(const SecondsOfSteps& lost) {
  double whole = 0;
  for (const auto& [step, seconds] : lost) whole += seconds;
  std::set<std::int64_t> steps;
  for (const auto& [step, seconds] : lost) {
    if (seconds >= kSlowStepShare * whole / static_cast<double>(lost.size())) steps.insert(step);
  }
  return steps;
}

}  // namespace

std::vector<Straggler> find_stragglers(std::span<const RankSummary> ranks, std::span<const PathPiece> path) {
  std::unordered_map<std::uint32_t, Straggler> by_rank;
  std::unordered_map<std::uint32_t, SecondsOfSteps> lost;
  const MoreWork more(ranks);
  double whole = 0;
  for (const PathPiece& piece : path) {
    whole += static_cast<double>(piece.end_ns - piece.work_start_ns) * 1e-9;
    if (piece.late_ns == 0) continue;
    Straggler& straggler = by_rank[piece.rank];
    straggler.rank = piece.rank;
    straggler.seconds += static_cast<double>(piece.late_ns) * 1e-9;
    add_loss(piece, more, lost[piece.rank]);
  }
  std::vector<Straggler> found;
  for (auto& [rank, straggler] : by_rank) {
    straggler.share = whole > 0 ? straggler.seconds / whole : 0;
    if (straggler.share >= kStragglerShare) found.push_back(std::move(straggler));
  }
  std::ranges::sort(
      found, [](const Straggler& a, const Straggler& b) { return a.seconds != b.seconds ? a.seconds > b.seconds : a.rank < b.rank; });
  found.resize(std::min(found.size(), kMostStragglers));
  for (Straggler& straggler : found) {
    const std::set<std::int64_t> steps = slow_steps(lost[straggler.rank]);
    straggler.steps = steps.size();
    straggler.work = lost_work(ranks, straggler.rank, steps);
  }
  return found;
}

}  // namespace mindtorch::analyze

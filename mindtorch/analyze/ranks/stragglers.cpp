// Adds up what was lost on the critical path by rank, and finds the work in which it was lost.
#include "mindtorch/analyze/ranks/stragglers.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "mindtorch/analyze/ranks/median.h"

namespace mindtorch::analyze {
namespace {

constexpr std::size_t kMostStragglers = 32;
constexpr std::size_t kMostLostWork = 8;

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
    const double more = (mean_seconds(own, own_places) - median_of(others[k])) * static_cast<double>(own_places.size());
    if (more > 0) lost.push_back({own.name, own.kind, more});
  }
  std::ranges::stable_sort(lost, std::ranges::greater{}, &LostWork::seconds);
  lost.resize(std::min(lost.size(), kMostLostWork));
  return lost;
}

}  // namespace

std::vector<Straggler> find_stragglers(std::span<const RankSummary> ranks, std::span<const PathPiece> path) {
  std::unordered_map<std::uint32_t, Straggler> by_rank;
  std::unordered_map<std::uint32_t, std::set<std::int64_t>> steps;
  double whole = 0;
  for (const PathPiece& piece : path) {
    whole += static_cast<double>(piece.end_ns - piece.work_start_ns) * 1e-9;
    if (piece.late_ns == 0) continue;
    Straggler& straggler = by_rank[piece.rank];
    straggler.rank = piece.rank;
    straggler.seconds += static_cast<double>(piece.late_ns) * 1e-9;
    steps[piece.rank].insert(piece.steps.begin(), piece.steps.end());
  }
  std::vector<Straggler> found;
  for (auto& [rank, straggler] : by_rank) {
    straggler.share = whole > 0 ? straggler.seconds / whole : 0;
    straggler.steps = steps[rank].size();
    if (straggler.share >= kStragglerShare) found.push_back(std::move(straggler));
  }
  std::ranges::sort(
      found, [](const Straggler& a, const Straggler& b) { return a.seconds != b.seconds ? a.seconds > b.seconds : a.rank < b.rank; });
  found.resize(std::min(found.size(), kMostStragglers));
  for (Straggler& straggler : found) straggler.work = lost_work(ranks, straggler.rank, steps[straggler.rank]);
  return found;
}

}  // namespace mindtorch::analyze

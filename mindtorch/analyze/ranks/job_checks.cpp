// Checks of a job's ranks, each a function.
#include "mindtorch/analyze/ranks/job_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace mindtorch::analyze {
namespace {

using Kind = JobFault::Kind;

constexpr std::int64_t kJumpNs = 1'000'000;  // smaller contradictions come from clocks that drift
constexpr std::size_t kMostListed = 20;

JobFault fault(Kind kind, const RankSummary& rank, std::string text) { return {kind, rank.identity.rank, rank.file, std::move(text)}; }

std::string listed(const std::vector<std::int64_t>& numbers) {
  if (numbers.size() <= kMostListed) return fmt::format("{}", fmt::join(numbers, ", "));
  const std::vector<std::int64_t> first(numbers.begin(), numbers.begin() + kMostListed);
  return fmt::format("{} and {} more", fmt::join(first, ", "), numbers.size() - kMostListed);
}

void check_files(Job& job) {
  for (const RankSummary& rank : job.summaries) {
    if (!rank.damage.empty()) job.faults.push_back(fault(Kind::kDamaged, rank, "only a part of the file can be read: " + rank.damage));
    if (rank.lost_events > 0) job.faults.push_back(fault(Kind::kLostEvents, rank, fmt::format("{} events were lost", rank.lost_events)));
    if (rank.steps_left_out + rank.collectives_left_out > 0) {
      job.faults.push_back(
          fault(Kind::kLeftOut, rank,
                fmt::format("the oldest {} steps and {} collectives are left out", rank.steps_left_out, rank.collectives_left_out)));
    }
  }
}

void check_missing(Job& job) {
  std::vector<std::int64_t> missing;
  std::set<std::int64_t> present;
  for (const RankSummary& rank : job.summaries) present.insert(rank.identity.rank);
  for (std::int64_t rank = 0; rank < job.world_size; ++rank) {
    if (!present.contains(rank)) missing.push_back(rank);
  }
  if (missing.empty()) return;
  const std::string text =
      fmt::format("{} of {} ranks have no recording that can be read: {}", missing.size(), job.world_size, listed(missing));
  job.faults.push_back({Kind::kMissing, missing.size() == 1 ? missing.front() : -1, "", text});
}

std::pair<std::int64_t, std::int64_t> step_range(const RankSummary& rank) { return {rank.steps.front().number, rank.steps.back().number}; }

// Compares each rank with the range of steps that most ranks recorded.
void check_steps(Job& job) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> ranges;
  for (const RankSummary& rank : job.summaries) {
    if (rank.has_step_marks && !rank.steps.empty()) ++ranges[step_range(rank)];
  }
  if (ranges.empty()) return;
  const auto usual =
      std::ranges::max_element(ranges, {}, [](const auto& entry) { return std::pair(entry.second, entry.first.second); })->first;
  for (const RankSummary& rank : job.summaries) {
    if (!rank.has_step_marks || rank.steps.empty()) {
      job.faults.push_back(fault(Kind::kDifferentSteps, rank, "no steps were recorded, most ranks recorded some"));
      continue;
    }
    const auto range = step_range(rank);
    if (range == usual) continue;
    const bool is_early = range.second < usual.second;
    const std::string text =
        fmt::format("steps {} to {} were recorded, by most ranks steps {} to {}", range.first, range.second, usual.first, usual.second);
    job.faults.push_back(fault(is_early ? Kind::kEndedEarly : Kind::kDifferentSteps, rank, text));
  }
}

void check_clocks(Job& job) {
  const bool is_shared = job.meets();
  for (std::size_t k = 0; k < job.summaries.size() && job.summaries.size() > 1; ++k) {
    const RankClock& clock = job.clocks.clocks[k];
    if (!clock.is_known() && is_shared)
      job.faults.push_back(fault(Kind::kNoClock, job.summaries[k],
                                 "neither a collective nor messages both ways connect its clock with those of the others"));
    for (std::size_t piece = 1; piece < clock.pieces.size(); ++piece) {
      const std::int64_t jump = clock.pieces[piece].offset_ns - clock.pieces[piece - 1].offset_ns;
      if (std::abs(jump) < kJumpNs) continue;
      const double at = static_cast<double>(clock.pieces[piece].from_ns - job.summaries[k].start_ns) * 1e-9;
      job.faults.push_back(
          fault(Kind::kClockJump, job.summaries[k],
                fmt::format("its clock jumped by {:.6f} s at {:.6f} s of the recording", static_cast<double>(jump) * 1e-9, at)));
    }
  }
}

// What a reader must know who sees no stragglers: where ranks wait for each other and it does not show.
void check_meetings(Job& job) {
  if (job.summaries.size() < 2) return;
  if (!job.meets()) {
    job.faults.push_back(
        {Kind::kNotCompared, -1, "",
         "no collective in which ranks meet was recorded: clocks are not compared, and it is not known who waits for whom"});
  }
  std::ptrdiff_t between_two = 0;
  for (const RankSummary& rank : job.summaries)
    between_two += std::ranges::count_if(rank.collectives, [](const RankCollective& c) { return is_between_two(c.kind) && c.peer < 0; });
  if (between_two == 0) return;
  job.faults.push_back(
      {Kind::kNotCompared, -1, "",
       fmt::format("{} calls of send and recv do not tell their peer and are not matched: time that ranks wait in them counts as "
                   "communication, and no rank is named for which they wait",
                   between_two)});
}

void check_collectives(Job& job) {
  std::size_t groups = 0;
  bool has_nameless = false;
  for (std::size_t k = 0; k < job.summaries.size(); ++k) {
    const RankSummary& rank = job.summaries[k];
    if (job.matching.unmatched[k] > 0) {
      job.faults.push_back(fault(
          Kind::kUnmatched, rank,
          fmt::format("{} of {} collectives have no counterpart on another rank", job.matching.unmatched[k], rank.collectives.size())));
    }
    groups = std::max<std::size_t>(groups, static_cast<std::size_t>(std::ranges::count_if(
                                               rank.identity.groups, [](const auto& group) { return group.ranks.size() != 1; })));
    has_nameless = has_nameless ||
                   std::ranges::any_of(rank.collectives, [](const RankCollective& c) { return c.group == 0 && !is_between_two(c.kind); });
  }
  if (groups < 2 || !has_nameless) return;
  job.faults.push_back({Kind::kUnknownGroups, -1, "",
                        fmt::format("there are {} process groups, and the recordings do not tell to which of them a collective belongs: "
                                    "collectives are matched by their order",
                                    groups)});
}

}  // namespace

void keep_one_per_rank(std::vector<RankSummary>& summaries, std::vector<JobFault>& faults) {
  const auto order = [](const RankSummary& a, const RankSummary& b) {
    if (a.identity.rank != b.identity.rank) return a.identity.rank < b.identity.rank;
    if (a.steps.size() != b.steps.size()) return a.steps.size() > b.steps.size();
    return a.start_ns > b.start_ns;
  };
  std::ranges::stable_sort(summaries, order);
  std::vector<RankSummary> kept;
  for (RankSummary& summary : summaries) {
    const bool is_duplicate = !kept.empty() && kept.back().identity.rank == summary.identity.rank;
    if (is_duplicate) {
      faults.push_back(fault(Kind::kDuplicate, summary, fmt::format("{} is used for this rank, this file is not", kept.back().file)));
    } else {
      kept.push_back(std::move(summary));
    }
  }
  summaries = std::move(kept);
}

void check_job(Job& job) {
  check_files(job);
  check_missing(job);
  check_steps(job);
  check_clocks(job);
  check_collectives(job);
  check_meetings(job);
}

}  // namespace mindtorch::analyze

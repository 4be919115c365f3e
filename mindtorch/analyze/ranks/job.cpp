// Reduces the summaries of a job's ranks.
#include "mindtorch/analyze/ranks/job.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "mindtorch/analyze/ranks/job_checks.h"
#include "mindtorch/base/statistics.h"

namespace mindtorch::analyze {
namespace {

constexpr std::array<std::string_view, 15> kFaultNames = {"unreadable",      "damaged",     "missing",     "duplicate",    "no_rank",
                                                          "different_steps", "ended_early", "clock_jump",  "no_clock",     "unmatched",
                                                          "unknown_groups",  "left_out",    "lost_events", "not_compared", "no_trace"};
constexpr std::size_t kMostImbalance = 20;

std::int64_t world_size(const std::vector<RankSummary>& summaries) {
  std::int64_t size = -1;
  for (const RankSummary& summary : summaries) size = std::max(size, summary.identity.world_size);
  return size;
}

std::vector<JobStep> job_steps(const std::vector<RankSummary>& summaries) {
  struct Found {
    JobStep step;
    std::vector<std::int64_t> durations;
  };
  std::map<std::int64_t, Found> found;
  for (std::size_t rank = 0; rank < summaries.size(); ++rank) {
    for (const RankStep& own : summaries[rank].steps) {
      auto& [step, durations] = found[own.number];
      if (durations.empty() || own.duration_ns > step.longest_ns) step.longest_ns = own.duration_ns, step.slowest = rank;
      step.shortest_ns = durations.empty() ? own.duration_ns : std::min(step.shortest_ns, own.duration_ns);
      durations.push_back(own.duration_ns);
    }
  }
  std::vector<JobStep> steps;
  for (auto& [number, entry] : found) {
    entry.step.number = number;
    entry.step.ranks = entry.durations.size();
    entry.step.median_ns = median_of(entry.durations, EvenMedian::kLower);
    steps.push_back(entry.step);
  }
  return steps;
}

// A step is an outlier if it is longer than the median by five times the usual deviation (the median of the absolute deviations, scaled to
// a standard deviation) and by a fifth. A few outliers change neither median.
void mark_outliers(std::vector<JobStep>& steps) {
  std::vector<double> times, deviations;
  for (const JobStep& step : steps) times.push_back(static_cast<double>(step.median_ns));
  const double median = median_of(times, EvenMedian::kLower);
  for (const double time : times) deviations.push_back(std::abs(time - median));
  const double limit = std::max(median + 5 * 1.4826 * median_of(deviations, EvenMedian::kLower), 1.2 * median);
  for (JobStep& step : steps) step.is_outlier = steps.size() >= 5 && static_cast<double>(step.median_ns) > limit;
}

// The numbers of the steps that all ranks with steps recorded. If there are none, every step counts.
std::set<std::int64_t> common_steps(const Job& job) {
  std::size_t most = 0;
  for (const JobStep& step : job.steps) most = std::max(most, step.ranks);
  std::set<std::int64_t> numbers;
  for (const JobStep& step : job.steps) {
    if (step.ranks == most) numbers.insert(step.number);
  }
  return numbers;
}

JobRank rank_means(const RankSummary& summary, const std::set<std::int64_t>& numbers) {
  JobRank means;
  double count = 0;
  for (const RankStep& step : summary.steps) {
    if (!numbers.contains(step.number)) continue;
    ++count;
    means.step_seconds += static_cast<double>(step.duration_ns) * 1e-9;
    means.hidden_seconds += static_cast<double>(step.hidden_ns) * 1e-9;
    for (std::size_t use = 0; use < kTimeUses; ++use) means.use[use] += static_cast<double>(step.use[use]) * 1e-9;
  }
  if (count == 0) return means;
  means.step_seconds /= count;
  means.hidden_seconds /= count;
  for (double& use : means.use) use /= count;
  return means;
}

void add_waiting(Job& job) {
  for (const MatchedCollective& collective : job.matching.collectives) {
    if (!collective.meets()) continue;
    const std::int64_t shortest = std::ranges::min(collective.parts, {}, &CollectivePart::duration_ns).duration_ns();
    for (const CollectivePart& part : collective.parts)
      job.ranks[part.rank].waiting_seconds += static_cast<double>(part.duration_ns() - shortest) * 1e-9;
  }
  for (std::size_t k = 0; k < job.ranks.size(); ++k)
    job.ranks[k].waiting_seconds /= static_cast<double>(std::max<std::size_t>(1, job.summaries[k].steps.size()));
}

std::vector<Imbalance> work_imbalance(const Job& job, const std::set<std::int64_t>& numbers) {
  struct Times {
    std::vector<double> seconds;
    Imbalance row;
  };
  std::map<std::pair<RankWork::Kind, std::string_view>, Times> rows;
  for (std::size_t rank = 0; rank < job.summaries.size(); ++rank) {
    const RankSummary& summary = job.summaries[rank];
    for (const RankWork& work : summary.work) {
      double sum = 0, count = 0;
      for (std::size_t k = 0; k < summary.steps.size(); ++k) {
        if (!numbers.contains(summary.steps[k].number)) continue;
        sum += static_cast<double>(work.seconds[k]);
        ++count;
      }
      const double mean = count > 0 ? sum / count : 0;
      auto& [seconds, row] = rows[{work.kind, work.name}];
      if (seconds.empty() || mean > row.most_seconds) row.most_seconds = mean, row.rank = rank;
      seconds.push_back(mean);
    }
  }
  std::vector<Imbalance> result;
  for (auto& [key, times] : rows) {
    times.seconds.resize(job.summaries.size());  // ranks without the work spent no time in it
    times.row.kind = key.first;
    times.row.name = key.second;
    times.row.median_seconds = median_of(times.seconds, EvenMedian::kLower);
    result.push_back(std::move(times.row));
  }
  std::ranges::stable_sort(result, std::ranges::greater{}, [](const Imbalance& row) { return row.most_seconds - row.median_seconds; });
  result.resize(std::min(result.size(), kMostImbalance));
  return result;
}

double compute_imbalance(const Job& job) {
  double sum = 0, most = 0;
  for (const JobRank& rank : job.ranks) {
    const double compute = rank.use[static_cast<std::size_t>(TimeUse::kCompute)];
    sum += compute;
    most = std::max(most, compute);
  }
  return sum > 0 ? most * static_cast<double>(job.ranks.size()) / sum - 1 : 0;
}

}  // namespace

std::string_view job_fault_name(JobFault::Kind kind) { return kFaultNames[static_cast<std::size_t>(kind)]; }

Job reduce_ranks(std::vector<RankSummary> summaries, std::vector<JobFault> faults) {
  Job job{.faults = std::move(faults)};
  keep_one_per_rank(summaries, job.faults);
  job.summaries = std::move(summaries);
  job.world_size = world_size(job.summaries);
  job.matching = match_collectives(job.summaries);
  job.clocks = align_clocks(job.matching, job.summaries.size());
  job.steps = job_steps(job.summaries);
  mark_outliers(job.steps);
  const std::set<std::int64_t> numbers = common_steps(job);
  for (const RankSummary& summary : job.summaries) job.ranks.push_back(rank_means(summary, numbers));
  add_waiting(job);
  job.path = critical_path(job.summaries, job.matching, job.clocks);
  job.stragglers = find_stragglers(job.summaries, job.path);
  job.communication = communication(job.matching);
  job.imbalance = work_imbalance(job, numbers);
  job.compute_imbalance = compute_imbalance(job);
  check_job(job);
  return job;
}

}  // namespace mindtorch::analyze

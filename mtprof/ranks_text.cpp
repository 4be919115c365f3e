// A job as text: faults first, then stragglers, ranks, communication, steps and imbalance.
#include <fmt/format.h>

#include <algorithm>

#include "mindtorch/analyze/units.h"
#include "mindtorch/export/markup.h"
#include "mtprof/ranks_output.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {
namespace {

using namespace analyze;

std::string seconds_text(double seconds) { return format_time(seconds * 1e6); }
std::string short_name(std::string_view name, int width) { return exporter::shortened(shown(name), width); }

std::int64_t rank_number(const Job& job, std::size_t index) { return job.summaries[index].identity.rank; }

std::string rest_text(std::size_t all, std::size_t limit) { return all > limit ? fmt::format("  ... and {} more\n", all - limit) : ""; }

std::string faults_text(const Job& job, std::size_t limit) {
  std::string text;
  for (std::size_t k = 0; k < std::min(limit, job.faults.size()); ++k) {
    const JobFault& fault = job.faults[k];
    text += fmt::format("! {}{}{}: {}\n", fault.rank < 0 ? "" : fmt::format("rank {}", fault.rank),
                        fault.rank < 0 || fault.file.empty() ? "" : ", ",
                        fault.file.empty() ? (fault.rank < 0 ? "job" : "") : shown(fault.file), shown(fault.text));
  }
  return text + rest_text(job.faults.size(), limit);
}

std::string header_text(const Job& job) {
  std::size_t outliers = 0;
  for (const JobStep& step : job.steps) outliers += step.is_outlier ? 1 : 0;
  std::string text = fmt::format("{} rank{}", job.summaries.size(), job.summaries.size() == 1 ? "" : "s");
  if (job.world_size >= 0) text += fmt::format(" of {}", job.world_size);
  text += fmt::format(", {} steps", job.steps.size());
  if (outliers > 0) text += fmt::format(", {} of them unusually long", outliers);
  std::int64_t error = 0, farthest = 0;
  for (const RankClock& clock : job.clocks.clocks) {
    for (const ClockPiece& piece : clock.pieces) {
      error = std::max(error, piece.error_ns);
      farthest = std::max(farthest, std::abs(piece.offset_ns));
    }
  }
  if (!job.meets()) return text + "\n";
  text += fmt::format(", clocks up to {} apart, known within {}\n", seconds_text(static_cast<double>(farthest) * 1e-9),
                      seconds_text(static_cast<double>(error) * 1e-9));
  return text;
}

std::string stragglers_text(const Job& job, std::size_t limit) {
  if (job.stragglers.empty() && !job.meets()) return "";  // there is one rank, or a fault says why
  if (job.stragglers.empty()) return "No rank makes the others wait for 1 % of the time.\n";
  std::string text;
  for (std::size_t k = 0; k < std::min(limit, job.stragglers.size()); ++k) {
    const Straggler& straggler = job.stragglers[k];
    text += fmt::format("Others wait for rank {}: {} lost in {} steps ({:.1f} % of the time)\n", rank_number(job, straggler.rank),
                        seconds_text(straggler.seconds), straggler.steps, 100 * straggler.share);
    for (const LostWork& lost : straggler.work) {
      if (lost.seconds < 0.05 * straggler.seconds) break;
      text += fmt::format("  {:>10} more than other ranks in {} ({})\n", seconds_text(lost.seconds), short_name(lost.name, 80),
                          work_kind_name(lost.kind));
    }
  }
  return text + rest_text(job.stragglers.size(), limit);
}

// The slowest ranks are those that wait least.
std::string ranks_text(const Job& job, std::size_t limit) {
  std::string text = fmt::format("\n{:>6}  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}  {:>12}  {}\n", "Rank", "Step", "Compute",
                                 "Exposed", "Hidden", "Idle", "Waits", "Peak memory", "Host");
  for (std::size_t k = 0; k < std::min(limit, job.ranks.size()); ++k) {
    const JobRank& rank = job.ranks[k];
    const auto use = [&](TimeUse u) { return rank.use[static_cast<std::size_t>(u)]; };
    const double idle = use(TimeUse::kData) + use(TimeUse::kLaunch) + use(TimeUse::kHost);
    std::int64_t peak = 0;
    for (const RankMemory& memory : job.summaries[k].memory) peak = std::max(peak, memory.peak_bytes);
    text += fmt::format("{:>6}  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}  {:>12}  {}\n", rank_number(job, k),
                        seconds_text(rank.step_seconds), seconds_text(use(TimeUse::kCompute)), seconds_text(use(TimeUse::kExposed)),
                        seconds_text(rank.hidden_seconds), seconds_text(idle), seconds_text(rank.waiting_seconds),
                        peak > 0 ? format_memory(peak) : "-", shown(job.summaries[k].identity.host));
  }
  return text + rest_text(job.ranks.size(), limit);
}

std::string communication_text(const Job& job, std::size_t limit) {
  if (job.communication.empty()) return "";
  std::string text = fmt::format("\n{:>20}  {:>10}  {:>12}  {:>8}  {:>6}  {:>10}  {:>10}  {:>10}\n", "Collective", "Group", "Size", "Calls",
                                 "Ranks", "Transfer", "Waiting", "Bandwidth");
  for (std::size_t k = 0; k < std::min(limit, job.communication.size()); ++k) {
    const CommunicationRow& row = job.communication[k];
    text +=
        fmt::format("{:>20}  {:>10}  {:>12}  {:>8}  {:>6}  {:>10}  {:>10}  {:>10}\n", short_name(row.name, 20), short_name(row.group, 10),
                    row.bytes < 0 ? "-" : format_memory(row.bytes), row.count, row.ranks, seconds_text(row.transfer_seconds),
                    seconds_text(row.waiting_seconds), row.bandwidth > 0 ? fmt::format("{:.3g} GB/s", row.bandwidth * 1e-9) : "-");
  }
  return text + rest_text(job.communication.size(), limit);
}

std::string steps_text(const Job& job, std::size_t limit) {
  std::string text;
  std::size_t count = 0;
  for (const JobStep& step : job.steps) {
    if (!step.is_outlier || ++count > limit) continue;
    text += fmt::format("Step {} is unusually long: {} (slowest on rank {}: {})\n", step.number,
                        seconds_text(static_cast<double>(step.median_ns) * 1e-9), rank_number(job, step.slowest),
                        seconds_text(static_cast<double>(step.longest_ns) * 1e-9));
  }
  return (text.empty() ? "" : "\n") + text + rest_text(count, limit);
}

std::string imbalance_text(const Job& job, std::size_t limit) {
  if (job.ranks.size() < 2) return "";
  std::string text = fmt::format("\nThe rank that computes longest computes {:.1f} % longer than the mean.\n", 100 * job.compute_imbalance);
  text += fmt::format("{:>50}  {:>12}  {:>12}  {:>6}\n", "Largest differences per step", "Median", "Most", "Rank");
  for (std::size_t k = 0; k < std::min(limit, job.imbalance.size()); ++k) {
    const Imbalance& row = job.imbalance[k];
    text += fmt::format("{:>50}  {:>12}  {:>12}  {:>6}\n", short_name(row.name, 50), seconds_text(row.median_seconds),
                        seconds_text(row.most_seconds), rank_number(job, row.rank));
  }
  return text;
}

std::string path_text(const Job& job) {
  if (job.path.empty()) return "";
  double work = 0, collectives = 0;
  for (const PathPiece& piece : job.path) {
    work += static_cast<double>(piece.work_end_ns - piece.work_start_ns) * 1e-9;
    collectives += static_cast<double>(piece.end_ns - piece.work_end_ns) * 1e-9;
  }
  return fmt::format("\nCritical path: {} of work and {} of collectives.\n", seconds_text(work), seconds_text(collectives));
}

}  // namespace

std::string job_text(const Job& job, std::size_t row_limit) {
  return header_text(job) + faults_text(job, 2 * row_limit) + stragglers_text(job, row_limit) + ranks_text(job, row_limit) +
         communication_text(job, row_limit) + path_text(job) + steps_text(job, row_limit) + imbalance_text(job, row_limit);
}

}  // namespace mindtorch::mtprof

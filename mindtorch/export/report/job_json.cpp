// The data of the page about a job. Rows are lists of values; page/job.js names their columns.
#include "mindtorch/export/report/job_json.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "mindtorch/analyze/ranks/step_map.h"
#include "mindtorch/export/report/json_parts.h"

namespace mindtorch::exporter {
namespace {

using analyze::ClockPiece;
using analyze::CommunicationRow;
using analyze::Imbalance;
using analyze::Job;
using analyze::JobFault;
using analyze::JobRank;
using analyze::JobStep;
using analyze::kTimeUses;
using analyze::LostWork;
using analyze::MatchedCollective;
using analyze::PathPiece;
using analyze::RankClock;
using analyze::RankMemory;
using analyze::RankSummary;
using analyze::StepMap;
using analyze::Straggler;
using analyze::TimeUse;

// What the page holds at most. With 1,024 ranks it stays below two megabytes.
constexpr std::size_t kMostMapRows = 1024, kMostMapColumns = 160;
constexpr std::size_t kMostJobRows = 2000;  // of each table but that of ranks
constexpr std::size_t kMostStragglers = 50, kMostLostWork = 8;

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }
std::string name_json(std::string_view name) { return quoted(short_name(name)); }
std::string number_or_null(bool is_known, std::int64_t value) { return is_known ? fmt::format("{}", value) : "null"; }

// The rows with the largest values, in the order they came in, and how many were left out.
template <class Row, class Value, class Text>
std::string largest_rows(const std::vector<Row>& rows, Value value, Text row_text) {
  std::vector<std::size_t> chosen(rows.size());
  std::iota(chosen.begin(), chosen.end(), 0);
  if (rows.size() > kMostJobRows) {
    const auto middle = chosen.begin() + static_cast<std::ptrdiff_t>(kMostJobRows);
    std::nth_element(chosen.begin(), middle, chosen.end(), [&](std::size_t a, std::size_t b) { return value(rows[a]) > value(rows[b]); });
    chosen.erase(middle, chosen.end());
    std::sort(chosen.begin(), chosen.end());
  }
  return fmt::format("{{\"rows\":{},\"leftOut\":{}}}", list(chosen, [&](std::size_t i) { return row_text(rows[i]); }),
                     rows.size() - chosen.size());
}

std::string map_json(const Job& job) {
  const StepMap map = step_map(job, kMostMapRows, kMostMapColumns);
  const auto range = [](const StepMap::Range& each) { return fmt::format("[{},{}]", each.first, each.last); };
  std::string cells;
  // Microseconds are enough for a colour, and shorter.
  for (const std::int64_t ns : map.longest_ns) cells += fmt::format("{}{}", cells.empty() ? "" : ",", ns < 0 ? -1 : ns / 1000);
  return fmt::format("{{\"ranks\":{},\"steps\":{},\"micros\":[{}]}}", list(map.ranks, range), list(map.steps, range), cells);
}

std::string ranks_json(const Job& job) {
  std::vector<std::size_t> indices(job.summaries.size());
  std::iota(indices.begin(), indices.end(), 0);
  const auto row = [&](std::size_t k) {
    const RankSummary& summary = job.summaries[k];
    const JobRank& means = job.ranks[k];
    const RankClock& clock = job.clocks.clocks[k];
    std::int64_t peak = -1, error = 0;
    for (const RankMemory& memory : summary.memory) peak = std::max(peak, memory.peak_bytes);
    for (const ClockPiece& piece : clock.pieces) error = std::max(error, piece.error_ns);
    std::string uses;
    for (const double seconds : means.use) uses += fmt::format("{},", nanoseconds(seconds));
    return fmt::format("[{},{},{},{}{},{},{},{},{},{},{}]", summary.identity.rank, name_json(summary.identity.host),
                       nanoseconds(means.step_seconds), uses, nanoseconds(means.hidden_seconds), nanoseconds(means.waiting_seconds),
                       number_or_null(peak >= 0, peak), number_or_null(clock.is_known(), clock.is_known() ? clock.pieces[0].offset_ns : 0),
                       number_or_null(clock.is_known(), error), summary.events, name_json(summary.file));
  };
  return fmt::format("{{\"rows\":{}}}", list(indices, row));
}

std::string stragglers_json(const Job& job) {
  std::vector<Straggler> worst(job.stragglers.begin(),
                               job.stragglers.begin() + static_cast<std::ptrdiff_t>(std::min(kMostStragglers, job.stragglers.size())));
  return list(worst, [&](const Straggler& straggler) {
    std::string work;
    for (std::size_t i = 0; i < std::min(kMostLostWork, straggler.work.size()); ++i) {
      const LostWork& lost = straggler.work[i];
      work +=
          fmt::format("{}[{},\"{}\",{}]", i == 0 ? "" : ",", name_json(lost.name), work_kind_name(lost.kind), nanoseconds(lost.seconds));
    }
    const RankSummary& summary = job.summaries[straggler.rank];
    return fmt::format("{{\"rank\":{},\"host\":{},\"lost\":{},\"share\":{},\"steps\":{},\"work\":[{}]}}", summary.identity.rank,
                       name_json(summary.identity.host), nanoseconds(straggler.seconds), straggler.share, straggler.steps, work);
  });
}

std::string communication_json(const Job& job) {
  return largest_rows(
      job.communication, [](const CommunicationRow& row) { return row.seconds; },
      [](const CommunicationRow& row) {
        return fmt::format("[{},{},{},{},{},{},{},{},{:.0f},{:.0f}]", name_json(row.name), name_json(row.group),
                           number_or_null(row.bytes >= 0, row.bytes), row.count, row.ranks, nanoseconds(row.seconds),
                           nanoseconds(row.transfer_seconds), nanoseconds(row.waiting_seconds), row.bandwidth, row.bus_bandwidth);
      });
}

std::string path_json(const Job& job) {
  const auto work_ns = [](const PathPiece& piece) { return piece.work_end_ns - piece.work_start_ns; };
  return largest_rows(
      job.path, [&](const PathPiece& piece) { return piece.end_ns - piece.work_start_ns; },
      [&](const PathPiece& piece) {
        const MatchedCollective& collective = job.matching.collectives[piece.collective];
        return fmt::format("[{},{},{},{},{},{}]", collective.step, job.summaries[piece.rank].identity.rank, work_ns(piece), piece.late_ns,
                           name_json(collective.name), piece.end_ns - piece.work_end_ns);
      });
}

// Of all pieces of the path, also of those that the table leaves out.
std::string path_by_rank_json(const Job& job) {
  struct Times {
    std::int64_t work = 0, late = 0, collective = 0;
    std::uint64_t pieces = 0;
  };
  std::map<std::int64_t, Times> by_rank;
  for (const PathPiece& piece : job.path) {
    Times& times = by_rank[job.summaries[piece.rank].identity.rank];
    times.work += piece.work_end_ns - piece.work_start_ns;
    times.late += piece.late_ns;
    times.collective += piece.end_ns - piece.work_end_ns;
    ++times.pieces;
  }
  return fmt::format("{{\"rows\":{}}}", list(by_rank, [](const auto& each) {
                       const auto& [rank, times] = each;
                       return fmt::format("[{},{},{},{},{}]", rank, times.pieces, times.work, times.late, times.collective);
                     }));
}

std::string steps_json(const Job& job) {
  return largest_rows(
      job.steps, [](const JobStep& step) { return step.longest_ns; },
      [&](const JobStep& step) {
        return fmt::format("[{},{},{},{},{},{},{}]", step.number, step.ranks, step.shortest_ns, step.median_ns, step.longest_ns,
                           job.summaries[step.slowest].identity.rank, step.is_outlier ? 1 : 0);
      });
}

std::string imbalance_json(const Job& job) {
  return largest_rows(
      job.imbalance, [](const Imbalance& row) { return row.most_seconds - row.median_seconds; },
      [&](const Imbalance& row) {
        return fmt::format("[{},\"{}\",{},{},{}]", name_json(row.name), work_kind_name(row.kind), nanoseconds(row.median_seconds),
                           nanoseconds(row.most_seconds), job.summaries[row.rank].identity.rank);
      });
}

std::string faults_json(const Job& job) {
  return largest_rows(
      job.faults, [](const JobFault&) { return 0; },
      [](const JobFault& fault) {
        return fmt::format("[\"{}\",{},{},{}]", job_fault_name(fault.kind), number_or_null(fault.rank >= 0, fault.rank),
                           name_json(fault.file), name_json(fault.text));
      });
}

// How far the clocks are apart, and the largest error bound.
std::string clocks_json(const Job& job) {
  std::int64_t lowest = 0, highest = 0, error = 0;
  std::size_t known = 0;
  for (const RankClock& clock : job.clocks.clocks) {
    known += clock.is_known() ? 1 : 0;
    for (const ClockPiece& piece : clock.pieces) {
      lowest = std::min(lowest, piece.offset_ns);
      highest = std::max(highest, piece.offset_ns);
      error = std::max(error, piece.error_ns);
    }
  }
  return fmt::format("{{\"known\":{},\"apart\":{},\"error\":{},\"reference\":{}}}", known, highest - lowest, error,
                     number_or_null(!job.summaries.empty(), job.summaries.empty() ? 0 : job.summaries[job.clocks.reference].identity.rank));
}

}  // namespace

std::string job_page_json(const Job& job, std::string_view title) {
  std::string uses;
  for (std::size_t use = 0; use < kTimeUses; ++use)
    uses += fmt::format("{}{}", use == 0 ? "" : ",", quoted(time_use_name(static_cast<TimeUse>(use))));
  return fmt::format(
      "{{\"title\":{},\"worldSize\":{},\"uses\":[{}],\"computeImbalance\":{},\"clocks\":{},\n\"stragglers\":{},\n\"map\":{},\n\"ranks\":{},"
      "\n"
      "\"communication\":{},\n\"path\":{},\n\"pathRanks\":{},\n\"steps\":{},\n\"imbalance\":{},\n\"faults\":{}}}",
      name_json(title), job.world_size, uses, job.compute_imbalance, clocks_json(job), stragglers_json(job), map_json(job), ranks_json(job),
      communication_json(job), path_json(job), path_by_rank_json(job), steps_json(job), imbalance_json(job), faults_json(job));
}

}  // namespace mindtorch::exporter

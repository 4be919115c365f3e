// A job as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>

#include "mindtorch/analyze/counters.h"
#include "mindtorch/base/text.h"
#include "mtprof/json_text.h"
#include "mtprof/ranks_output.h"

namespace mindtorch::mtprof {
namespace {

using namespace analyze;

std::string use_json(const JobRank& rank) {
  std::string text;
  for (std::size_t use = 0; use < kTimeUses; ++use)
    text += fmt::format("{}\"{}\":{}", use == 0 ? "" : ",", time_use_name(static_cast<TimeUse>(use)), rank.use[use]);
  return "{" + text + "}";
}

std::string clock_json(const RankClock& clock) {
  if (!clock.is_known()) return "null";
  return json_list(clock.pieces, [](const ClockPiece& piece) {
    return fmt::format("{{\"from_ns\":{},\"offset_ns\":{},\"error_ns\":{},\"collectives\":{}}}",
                       piece.from_ns == INT64_MIN ? "null" : std::to_string(piece.from_ns), piece.offset_ns, piece.error_ns,
                       piece.collectives);
  });
}

std::string rank_json(const Job& job, std::size_t index) {
  const RankSummary& summary = job.summaries[index];
  const JobRank& means = job.ranks[index];
  const RankClock& clock = job.clocks.clocks[index];
  std::string text = fmt::format("{{\"rank\":{},\"local_rank\":{},\"host\":{},\"backend\":{},\"file\":{},\"damaged\":{},\"events\":{},",
                                 summary.identity.rank, summary.identity.local_rank, json_quoted(summary.identity.host),
                                 json_quoted(summary.identity.backend), json_quoted(summary.file), !summary.damage.empty(), summary.events);
  text += fmt::format("\"step_seconds\":{},\"use\":{},\"hidden_communication\":{},\"waiting_seconds\":{},\"collectives\":{},",
                      means.step_seconds, use_json(means), means.hidden_seconds, means.waiting_seconds, summary.collectives.size());
  text += fmt::format("\"clock\":{},", clock_json(clock));
  text += fmt::format(
      "\"devices\":{},", json_list(summary.devices, [](const RankDevice& device) {
        return fmt::format(
            "{{\"device\":\"{}\",\"span_ns\":{},\"compute_ns\":{},\"communication_ns\":{},\"overlap_ns\":{},\"idle_ns\":{}}}",
            device_text(device.device), device.span_ns, device.compute_ns, device.communication_ns, device.overlap_ns, device.idle_ns);
      }));
  text += fmt::format("\"memory\":{},", json_list(summary.memory, [](const RankMemory& memory) {
                        return fmt::format("{{\"device\":\"{}\",\"peak_bytes\":{}}}", device_text(memory.device), memory.peak_bytes);
                      }));
  return text + fmt::format("\"steps\":{}}}", json_list(summary.steps, [&](const RankStep& step) {
                              return fmt::format("{{\"number\":{},\"start_ns\":{},\"duration_ns\":{}}}", step.number,
                                                 clock.to_common(step.start_ns), step.duration_ns);
                            }));
}

std::string straggler_json(const Job& job, const Straggler& straggler) {
  return fmt::format("{{\"rank\":{},\"seconds_lost\":{},\"share\":{},\"steps\":{},\"ops\":{}}}",
                     job.summaries[straggler.rank].identity.rank, straggler.seconds, straggler.share, straggler.steps,
                     json_list(straggler.work, [](const LostWork& lost) {
                       return fmt::format("{{\"name\":{},\"kind\":\"{}\",\"seconds_lost\":{}}}", json_quoted(lost.name),
                                          work_kind_name(lost.kind), lost.seconds);
                     }));
}

std::string communication_json(const CommunicationRow& row) {
  return fmt::format(
      "{{\"collective\":{},\"group\":{},\"bytes\":{},\"count\":{},\"ranks\":{},\"seconds\":{},\"transfer_seconds\":{},\"waiting_seconds\":{"
      "},"
      "\"bytes_per_second\":{},\"bus_bytes_per_second\":{}}}",
      json_quoted(row.name), json_quoted(row.group), row.bytes < 0 ? "null" : std::to_string(row.bytes), row.count, row.ranks, row.seconds,
      row.transfer_seconds, row.waiting_seconds, row.bandwidth, row.bus_bandwidth);
}

std::string path_json(const Job& job) {
  return json_list(job.path, [&](const PathPiece& piece) {
    const MatchedCollective& collective = job.matching.collectives[piece.collective];
    const RankClock& clock = job.clocks.clocks[piece.rank];
    return fmt::format(
        "{{\"rank\":{},\"step\":{},\"start_ns\":{},\"work_seconds\":{},\"late_seconds\":{},\"collective\":{},\"collective_seconds\":{}}}",
        job.summaries[piece.rank].identity.rank, collective.step, clock.to_common(piece.work_start_ns),
        static_cast<double>(piece.work_end_ns - piece.work_start_ns) * 1e-9, static_cast<double>(piece.late_ns) * 1e-9,
        json_quoted(collective.name), static_cast<double>(piece.end_ns - piece.work_end_ns) * 1e-9);
  });
}

std::string step_json(const Job& job, const JobStep& step) {
  return fmt::format(
      "{{\"number\":{},\"ranks\":{},\"shortest_ns\":{},\"median_ns\":{},\"longest_ns\":{},\"slowest_rank\":{},\"is_outlier\":{}}}",
      step.number, step.ranks, step.shortest_ns, step.median_ns, step.longest_ns, job.summaries[step.slowest].identity.rank,
      step.is_outlier);
}

// The process groups of all ranks, each once.
std::string groups_json(const Job& job) {
  std::set<std::pair<std::string_view, std::span<const std::int64_t>>, decltype([](const auto& a, const auto& b) {
             return a.first != b.first ? a.first < b.first : std::ranges::lexicographical_compare(a.second, b.second);
           })>
      groups;
  for (const RankSummary& summary : job.summaries) {
    for (const trace::RankGroup& group : summary.identity.groups) groups.emplace(group.name, group.ranks);
  }
  return json_list(groups, [](const auto& group) {
    return fmt::format("{{\"name\":{},\"ranks\":[{}]}}", json_quoted(group.first), fmt::join(group.second, ","));
  });
}

}  // namespace

std::string job_json(const Job& job) {
  std::vector<std::size_t> indices(job.summaries.size());
  for (std::size_t k = 0; k < indices.size(); ++k) indices[k] = k;
  std::string text = fmt::format("{{\"world_size\":{},\n\"stragglers\":{},\n", job.world_size,
                                 json_list(job.stragglers, [&](const Straggler& straggler) { return straggler_json(job, straggler); }));
  text += fmt::format("\"faults\":{},\n", json_list(job.faults, [](const JobFault& fault) {
                        return fmt::format("{{\"kind\":\"{}\",\"rank\":{},\"file\":{},\"text\":{}}}", job_fault_name(fault.kind),
                                           fault.rank < 0 ? "null" : std::to_string(fault.rank), json_quoted(fault.file),
                                           json_quoted(fault.text));
                      }));
  text += fmt::format("\"groups\":{},\n", groups_json(job));
  text += fmt::format("\"communication\":{},\n", json_list(job.communication, communication_json));
  text += fmt::format(
      "\"compute_imbalance\":{},\"imbalance\":{},\n", job.compute_imbalance, json_list(job.imbalance, [&](const Imbalance& row) {
        return fmt::format("{{\"name\":{},\"kind\":\"{}\",\"median_seconds\":{},\"most_seconds\":{},\"rank\":{}}}", json_quoted(row.name),
                           work_kind_name(row.kind), row.median_seconds, row.most_seconds, job.summaries[row.rank].identity.rank);
      }));
  text += fmt::format("\"steps\":{},\n", json_list(job.steps, [&](const JobStep& step) { return step_json(job, step); }));
  text += fmt::format("\"reference_rank\":{},\n",
                      job.summaries.empty() ? "null" : std::to_string(job.summaries[job.clocks.reference].identity.rank));
  text += fmt::format("\"critical_path\":{},\n", path_json(job));
  return text + fmt::format("\"ranks\":{}}}\n", json_list(indices, [&](std::size_t index) { return rank_json(job, index); }));
}

}  // namespace mindtorch::mtprof

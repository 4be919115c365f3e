// A job as JSON.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>

#include "mindtorch/base/json_writer.h"
#include "mindtorch/trace/text.h"
#include "mtprof/ranks_output.h"

namespace mindtorch::mtprof {
namespace {

using namespace analyze;

// A job as JSON, part by part.
class JobJson {
 public:
  explicit JobJson(const Job& job) : job_(job) {}

  std::string write() {
    json_.object([&] {
      json_.field("world_size", job_.world_size).line_break();
      json_.list_field("stragglers", job_.stragglers, [&](const Straggler& straggler) { write_straggler(straggler); }).line_break();
      json_.list_field("faults", job_.faults, [&](const JobFault& fault) { write_fault(fault); }).line_break();
      write_groups();
      json_.line_break().list_field("communication", job_.communication, [&](const CommunicationRow& row) { write_communication(row); });
      json_.line_break().field("compute_imbalance", job_.compute_imbalance);
      json_.list_field("imbalance", job_.imbalance, [&](const Imbalance& row) { write_imbalance(row); }).line_break();
      json_.list_field("steps", job_.steps, [&](const JobStep& step) { write_step(step); }).line_break();
      json_.key("reference_rank");
      if (job_.summaries.empty())
        json_.value(nullptr);
      else
        json_.value(rank_number(job_.clocks.reference));
      json_.line_break().list_field("critical_path", job_.path, [&](const PathPiece& piece) { write_piece(piece); }).line_break();
      std::size_t index = 0;
      json_.list_field("ranks", job_.summaries, [&](const RankSummary& summary) { write_rank(summary, index++); });
    });
    return json_.take() + "\n";
  }

 private:
  std::int64_t rank_number(std::size_t index) const { return job_.summaries[index].identity.rank; }

  void write_straggler(const Straggler& straggler) {
    json_.object([&] {
      json_.field("rank", rank_number(straggler.rank)).field("seconds_lost", straggler.seconds).field("share", straggler.share);
      json_.field("steps", straggler.steps).list_field("ops", straggler.work, [&](const LostWork& lost) {
        json_.object([&] { json_.field("name", lost.name).field("kind", work_kind_name(lost.kind)).field("seconds_lost", lost.seconds); });
      });
    });
  }

  void write_fault(const JobFault& fault) {
    json_.object([&] {
      json_.field("kind", job_fault_name(fault.kind)).field("rank", fault.rank < 0 ? std::nullopt : std::optional(fault.rank));
      json_.field("file", fault.file).field("text", fault.text);
    });
  }

  // The process groups of all ranks, each once.
  void write_groups() {
    std::set<std::pair<std::string_view, std::span<const std::int64_t>>, decltype([](const auto& a, const auto& b) {
               return a.first != b.first ? a.first < b.first : std::ranges::lexicographical_compare(a.second, b.second);
             })>
        groups;
    for (const RankSummary& summary : job_.summaries) {
      for (const trace::RankGroup& group : summary.identity.groups) groups.emplace(group.name, group.ranks);
    }
    json_.list_field("groups", groups,
                     [&](const auto& group) { json_.object([&] { json_.field("name", group.first).list_field("ranks", group.second); }); });
  }

  void write_communication(const CommunicationRow& row) {
    json_.object([&] {
      json_.field("collective", row.name).field("group", row.group);
      json_.field("bytes", row.bytes < 0 ? std::nullopt : std::optional(row.bytes)).field("count", row.count).field("ranks", row.ranks);
      json_.field("seconds", row.seconds).field("transfer_seconds", row.transfer_seconds).field("waiting_seconds", row.waiting_seconds);
      json_.field("bytes_per_second", row.bandwidth).field("bus_bytes_per_second", row.bus_bandwidth);
    });
  }

  void write_imbalance(const Imbalance& row) {
    json_.object([&] {
      json_.field("name", row.name).field("kind", work_kind_name(row.kind)).field("median_seconds", row.median_seconds);
      json_.field("most_seconds", row.most_seconds).field("rank", rank_number(row.rank));
    });
  }

  void write_step(const JobStep& step) {
    json_.object([&] {
      json_.field("number", step.number).field("ranks", step.ranks).field("shortest_ns", step.shortest_ns);
      json_.field("median_ns", step.median_ns).field("longest_ns", step.longest_ns);
      json_.field("slowest_rank", rank_number(step.slowest)).field("is_outlier", step.is_outlier);
    });
  }

  void write_piece(const PathPiece& piece) {
    const MatchedCollective& collective = job_.matching.collectives[piece.collective];
    json_.object([&] {
      json_.field("rank", rank_number(piece.rank)).field("step", collective.step);
      json_.field("start_ns", job_.clocks.clocks[piece.rank].to_common(piece.work_start_ns));
      json_.field("work_seconds", static_cast<double>(piece.work_end_ns - piece.work_start_ns) * 1e-9);
      json_.field("late_seconds", static_cast<double>(piece.late_ns) * 1e-9).field("collective", collective.name);
      json_.field("collective_seconds", static_cast<double>(piece.end_ns - piece.work_end_ns) * 1e-9);
    });
  }

  void write_clock(const RankClock& clock) {
    json_.key("clock");
    if (!clock.is_known()) {
      json_.value(nullptr);
      return;
    }
    json_.list(clock.pieces, [&](const ClockPiece& piece) {
      json_.object([&] {
        json_.field("from_ns", piece.from_ns == INT64_MIN ? std::nullopt : std::optional(piece.from_ns));
        json_.field("offset_ns", piece.offset_ns).field("error_ns", piece.error_ns).field("collectives", piece.collectives);
      });
    });
  }

  void write_rank(const RankSummary& summary, std::size_t index) {
    const JobRank& means = job_.ranks[index];
    const RankClock& clock = job_.clocks.clocks[index];
    json_.object([&] {
      json_.field("rank", summary.identity.rank).field("local_rank", summary.identity.local_rank).field("host", summary.identity.host);
      json_.field("backend", summary.identity.backend).field("file", summary.file).field("damaged", !summary.damage.empty());
      json_.field("events", summary.events).field("step_seconds", means.step_seconds).object_field("use", [&] {
        for (std::size_t use = 0; use < kTimeUses; ++use) json_.field(time_use_name(static_cast<TimeUse>(use)), means.use[use]);
      });
      json_.field("hidden_communication", means.hidden_seconds).field("waiting_seconds", means.waiting_seconds);
      json_.field("collectives", summary.collectives.size());
      write_clock(clock);
      json_.list_field("devices", summary.devices, [&](const RankDevice& device) {
        json_.object([&] {
          json_.field("device", trace::device_text(device.device)).field("span_ns", device.span_ns).field("compute_ns", device.compute_ns);
          json_.field("communication_ns", device.communication_ns).field("overlap_ns", device.overlap_ns).field("idle_ns", device.idle_ns);
        });
      });
      json_.list_field("memory", summary.memory, [&](const RankMemory& memory) {
        json_.object([&] { json_.field("device", trace::device_text(memory.device)).field("peak_bytes", memory.peak_bytes); });
      });
      json_.list_field("steps", summary.steps, [&](const RankStep& step) {
        json_.object([&] {
          json_.field("number", step.number).field("start_ns", clock.to_common(step.start_ns)).field("duration_ns", step.duration_ns);
        });
      });
    });
  }

  const Job& job_;
  JsonWriter json_;
};

}  // namespace

std::string job_json(const Job& job) { return JobJson(job).write(); }

}  // namespace mindtorch::mtprof

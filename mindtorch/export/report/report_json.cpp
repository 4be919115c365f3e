// A report as JSON.
#include "mindtorch/export/report/report_json.h"

#include <fmt/format.h>

#include <vector>

#include "mindtorch/analyze/counters.h"
#include "mindtorch/export/report/comparison_json.h"
#include "mindtorch/export/report/efficiency_json.h"
#include "mindtorch/export/report/json_parts.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::exporter {
namespace {

using analyze::OpRow;
using analyze::Report;

constexpr std::size_t kLongestMetadata = 2000;  // bytes
constexpr std::size_t kRowsOfEfficiency = 200;  // of each table

std::string finding_json(const analyze::Finding& finding) {
  return fmt::format(
      R"({{"id":"{}","title":{},"cost_ns":{},"share":{:.4f},"evidence":{},"remedy":{},"ops":{},"lines":{},"bytes_per_step":{},"predicted_step_ns":{},"at_best":{}}})",
      finding.id, quoted(finding.title), finding.cost_ns, finding.share, json_list(finding.evidence), quoted(finding.remedy),
      list(finding.ops, [](const std::string& op) { return quoted(short_name(op)); }), json_list(finding.lines), finding.bytes_per_step,
      finding.predicted_step_ns ? std::to_string(*finding.predicted_step_ns) : "null", finding.predicts_at_best);
}

std::string prediction_json(const analyze::StepPrediction& prediction) {
  return fmt::format(R"({{"step_ns":{},"replayed_ns":{},"base_ns":{},"problem":{},"combined_ns":{}}})", prediction.step_ns,
                     prediction.replayed_ns, prediction.base_ns, quoted(prediction.problem), numbers(prediction.combined_ns));
}

std::string verdict_json(const analyze::Judgement& verdict) {
  return fmt::format(R"({{"level":"{}","text":{},"explained_share":{:.4f},"unknown":{},"next":{}}})",
                     analyze::verdict_level_name(verdict.level), quoted(verdict.text), verdict.explained_share, quoted(verdict.unknown),
                     quoted(verdict.next));
}

std::string lane_json(const analyze::CauseLane& lane) {
  const std::string rows = list(lane.rows, [](const analyze::CauseRow& row) {
    return fmt::format(R"({{"cause":"{}","label":{},"line":{},"ns_per_step":{},"share":{:.4f},"idle":{}}})", row.cause,
                       quoted(short_name(row.label)), quoted(row.line), row.ns_per_step, row.share, row.is_idle);
  });
  return fmt::format(R"({{"lane":{},"device":{},"main":{},"ns_per_step":{},"causes":{}}})", quoted(lane.name), lane.is_device, lane.is_main,
                     lane.ns_per_step, rows);
}

std::string kinds_json(const std::vector<analyze::StepKind>& kinds) {
  return list(kinds, [](const analyze::StepKind& kind) {
    return fmt::format(R"({{"name":{},"count":{},"mean_ns":{},"typical":{},"host":{}}})", quoted(kind.name), kind.count, kind.mean_ns,
                       kind.typical, numbers(kind.host));
  });
}

// What the page and programs get alike.
std::string summary_json(const Report& report) {
  return fmt::format(
      R"("verdict":{},"unit":{},"mean_step_ns":{},"p95_step_ns":{},"causes":{},"step_kinds":{},"findings":{},"prediction":{})",
      verdict_json(report.verdict), quoted(report.unit), report.mean_step_ns, report.p95_step_ns, list(report.lanes, lane_json),
      kinds_json(report.kinds), list(report.findings, finding_json), prediction_json(report.prediction));
}

std::string links_json(const std::vector<analyze::WorkLink>& links) {
  return list(links, [](const analyze::WorkLink& link) { return fmt::format("[{},{},{}]", link.row, link.calls, link.time_ns); });
}

std::string table_json(const std::vector<OpRow>& rows, std::size_t left_out, Names& names) {
  std::string details;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const OpRow& row = rows[k];
    if (row.over_time.empty() && row.callers.empty() && row.callees.empty()) continue;
    details += fmt::format(R"({}"{}":{{"callers":{},"callees":{},"kernels":{},"times":{}}})", details.empty() ? "" : ",", k,
                           links_json(row.callers), links_json(row.callees), links_json(row.kernels), numbers(row.over_time));
  }
  const std::string body = list(rows, [&](const OpRow& row) {
    const std::string place = row.place.empty() ? std::string() : fmt::format(",{}", names.id(row.place));
    return fmt::format("[{},{},{},{},{},{},{},{},{},{},{}{}]", names.id(row.name), names.id(row.kind), static_cast<int>(row.phase),
                       row.calls, row.total_ns, row.self_ns, row.shortest_ns, row.longest_ns, row.device_ns, row.self_device_ns, row.memory,
                       place);
  });
  std::string phases;  // of the rows that have time in several
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::string times;
    int count = 0;
    for (std::size_t phase = 0; phase < analyze::kCauses; ++phase) {
      if (rows[k].by_phase[phase] == 0) continue;
      times += fmt::format("{}[{},{}]", count++ == 0 ? "" : ",", phase, rows[k].by_phase[phase]);
    }
    if (count > 1) phases += fmt::format(R"({}"{}":[{}])", phases.empty() ? "" : ",", k, times);
  }
  return fmt::format(R"({{"rows":{},"details":{{{}}},"phases":{{{}}},"leftOut":{}}})", body, details, phases, left_out);
}

std::string flame_json(std::string_view title, const std::vector<analyze::FlameNode>& nodes, Names& names) {
  return fmt::format(R"({{"title":"{}","nodes":{}}})", title, list(nodes, [&](const analyze::FlameNode& node) {
                       return fmt::format("[{},{},{},{},{},{}]", names.id(node.name), node.parent, node.calls, node.self_ns,
                                          node.self_device_ns, node.allocated);
                     }));
}

std::string memory_json(const analyze::MemoryView& view) {
  const std::string bytes = list(view.bytes, [](const auto& row) { return numbers(row); });
  const std::string holders = list(view.holders, [](const analyze::MemoryHolder& holder) {
    return fmt::format("[{},{},{}]", quoted(short_name(holder.name)), holder.bytes, holder.blocks);
  });
  return fmt::format(
      R"({{"device":"{}","times":{},"bytes":{},"before":{},"peak":{},"peakAt":{},"holders":{},"allocations":{},"allocated":{}}})",
      trace::device_text(view.device), numbers(view.times_ns), bytes, view.before, view.peak, view.peak_ns, holders, view.allocations,
      view.allocated);
}

// Starts are differences to the slice before, because small numbers are short.
std::string timeline_json(const analyze::Analysis& analysis, const analyze::TimelineView& view, Names& names) {
  const trace::EventColumns& events = analysis.recording().events;
  std::vector<std::int64_t> starts, durations, depths, links;
  std::vector<std::size_t> name_ids;
  std::vector<int> kinds;
  std::int64_t before = view.start_ns;
  for (const analyze::TimelineSlice& slice : view.slices) {
    starts.push_back(events.start_ns[slice.event] - before);
    before = events.start_ns[slice.event];
    durations.push_back(events.duration_ns[slice.event]);
    name_ids.push_back(names.id(analysis.names().trace_text(events.name[slice.event])));
    depths.push_back(slice.depth);
    kinds.push_back(static_cast<int>(events.kind[slice.event]));
    links.push_back(slice.launched_by);
  }
  const std::string tracks = list(view.tracks, [](const analyze::TimelineTrack& track) {
    return fmt::format("[{},{},{},{}]", quoted(track.name), track.is_device ? 1 : 0, track.first_slice, track.slice_count);
  });
  const std::string counters = list(view.counters, [](const analyze::Counter& counter) {
    return fmt::format(R"([{},{},"{}",{},{}])", quoted(counter.name), quoted(counter.unit), trace::device_text(counter.device),
                       numbers(counter.times_ns), numbers(counter.values));
  });
  return fmt::format(
      R"({{"title":{},"start":{},"end":{},"tracks":{},"starts":{},"durations":{},"names":{},"depths":{},"kinds":{},"links":{},"counters":{},"leftOut":{}}})",
      quoted(view.title), view.start_ns, view.end_ns, tracks, numbers(starts), numbers(durations), numbers(name_ids), numbers(depths),
      numbers(kinds), numbers(links), counters, view.left_out);
}

std::string steps_json(const std::vector<analyze::StepPhases>& steps, std::size_t count, std::int64_t median_ns) {
  const auto column = [&](auto member) {
    return list(steps, [&](const analyze::StepPhases& step) { return fmt::to_string(step.*member); });
  };
  return fmt::format(R"({{"count":{},"median":{},"kinds":{},"numbers":{},"starts":{},"durations":{},"host":{},"device":{}}})", count,
                     median_ns, column(&analyze::StepPhases::kind), column(&analyze::StepPhases::number),
                     column(&analyze::StepPhases::start_ns), column(&analyze::StepPhases::duration_ns),
                     list(steps, [](const analyze::StepPhases& step) { return numbers(step.host); }),
                     list(steps, [](const analyze::StepPhases& step) { return numbers(step.device); }));
}

std::string phases_json() {
  std::string host, device;
  for (std::size_t k = 0; k < analyze::kCauses; ++k)
    host += fmt::format("{}\"{}\"", k == 0 ? "" : ",", analyze::cause_name(static_cast<analyze::Cause>(k)));
  for (std::size_t k = 0; k < analyze::kDevicePhases; ++k)
    device += fmt::format("{}\"{}\"", k == 0 ? "" : ",", analyze::device_phase_name(static_cast<analyze::DevicePhase>(k)));
  return fmt::format(R"({{"host":[{}],"device":[{}]}})", host, device);
}

// Facts about the recording, in order, as texts of name and value.
std::string about_json(const trace::Recording& recording, std::string_view title) {
  const std::pair<bool, std::string_view> options[] = {{recording.options.shapes, "shapes"},
                                                       {recording.options.memory, "memory"},
                                                       {recording.options.stacks, "stacks"},
                                                       {recording.options.modules, "modules"},
                                                       {recording.options.flops, "FLOPs"}};
  std::vector<std::string> chosen;
  for (const auto& [is_on, name] : options) {
    if (is_on) chosen.emplace_back(name);
  }
  std::string metadata;
  for (const auto& [key, json] : recording.metadata) {
    if (json.size() <= kLongestMetadata) metadata += fmt::format("{}{}:{}", metadata.empty() ? "" : ",", quoted(key), quoted(json));
  }
  const std::string losses = list(recording.losses, [](const trace::Loss& loss) { return quoted(trace::loss_json(loss)); });
  return fmt::format(
      R"({{"title":{},"unixNs":{},"start":{},"duration":{},"events":{},"tracks":{},"options":{},"metadata":{{{}}},"losses":{}}})",
      quoted(title), recording.clock.base_unix_ns + recording.clock.start_ns, recording.clock.start_ns,
      recording.clock.end_ns - recording.clock.start_ns, recording.events.size(), recording.tracks.size(), json_list(chosen), metadata,
      losses);
}

std::string categories_json() {
  std::string text;
  for (int k = 0; k < trace::kMemoryCategories; ++k)
    text += fmt::format("{}\"{}\"", k == 0 ? "" : ",", trace::memory_category_name(static_cast<trace::MemoryCategory>(k)));
  return "[" + text + "]";
}

}  // namespace

std::string findings_json(const Report& report) {
  return fmt::format("{{\"steps\":{},\"step_ns\":{},{},\"efficiency\":{{{}}}}}\n", report.step_count, report.median_step_ns,
                     summary_json(report), efficiency_totals_json(report.efficiency));
}

std::string report_json(const analyze::Analysis& analysis, const Report& report, std::string_view title, const Comparison* comparison) {
  Names names;
  std::string out = fmt::format(R"({{"about":{},"hasSteps":{},"hasDevice":{},"phases":{},"steps":{},{})",
                                about_json(analysis.recording(), title), report.has_steps, report.has_device_work, phases_json(),
                                steps_json(report.steps, report.step_count, report.median_step_ns), summary_json(report));
  if (!report.slices.empty())
    out += fmt::format(R"(,"slices":{})", steps_json(report.slices, report.slices.size(), report.slices.front().duration_ns));
  out += fmt::format(R"(,"ops":{},"kernels":{},"modules":{},"lines":{})", table_json(report.tables.ops, report.tables.ops_left_out, names),
                     table_json(report.tables.kernels, report.tables.kernels_left_out, names), table_json(report.tables.modules, 0, names),
                     table_json(report.tables.lines, 0, names));
  out += fmt::format(R"(,"opsByShape":{},"opsByModule":{},"opsByLine":{})", table_json(report.tables.ops_by_shapes, 0, names),
                     table_json(report.tables.ops_by_module, 0, names), table_json(report.tables.ops_by_line, 0, names));
  out += fmt::format(R"(,"flames":[{})", flame_json("ops", report.op_flame, names));
  if (!report.stack_flame.empty()) out += "," + flame_json("stacks", report.stack_flame, names);
  out += fmt::format(R"(],"categories":{},"memory":{})", categories_json(), list(report.memory, memory_json));
  out += fmt::format(R"(,"timelines":{})",
                     list(report.timelines, [&](const analyze::TimelineView& view) { return timeline_json(analysis, view, names); }));
  out += fmt::format(R"(,"efficiency":{})", efficiency_json(report.efficiency, kRowsOfEfficiency));
  if (comparison != nullptr) out += fmt::format(R"(,"compared":{})", comparison_json(*comparison, names));
  return out + fmt::format(R"(,"names":{}}})", names.json());
}

}  // namespace mindtorch::exporter

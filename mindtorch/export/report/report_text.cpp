// A report as text.
#include "mindtorch/export/report/report_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "mindtorch/analyze/units.h"
#include "mindtorch/base/text.h"
#include "mindtorch/export/report/json_parts.h"

namespace mindtorch::exporter {
namespace {

constexpr std::size_t kRows = 10;       // of a lane
constexpr std::size_t kOtherLanes = 2;  // beside the main thread and the devices
constexpr double kLeastShare = 0.01;    // of a row

std::string shown_time(std::int64_t ns) { return analyze::format_time(static_cast<double>(ns) / 1000.0); }
std::string plain(std::string_view text) { return without_controls(short_name(text)); }

std::string steps_text(const analyze::Report& report) {
  if (!report.has_steps) return "The recording has no steps; times are of the whole recording.\n";
  std::string text = fmt::format("{} {}s: mean {}, median {}, 95 % within {}\n", report.step_count, plain(report.unit),
                                 shown_time(report.mean_step_ns), shown_time(report.median_step_ns), shown_time(report.p95_step_ns));
  if (report.kinds.size() < 2) return text;
  for (const analyze::StepKind& kind : report.kinds)
    text += fmt::format("  {:>6} x {:<28} {:>12}\n", kind.count, plain(kind.name), shown_time(kind.mean_ns));
  return text;
}

std::string lane_text(const analyze::CauseLane& lane, bool has_steps) {
  std::string text =
      fmt::format("\nWhere {} goes: {} ({})\n", has_steps ? "a step" : "the time", plain(lane.name), shown_time(lane.ns_per_step));
  std::int64_t left_out = lane.ns_per_step;
  std::size_t rows = 0;
  for (const analyze::CauseRow& row : lane.rows) {
    if (rows == kRows || row.share < kLeastShare) break;
    ++rows;
    left_out -= row.ns_per_step;
    const std::string cause = row.is_idle ? fmt::format("idle: {}", row.cause) : std::string(row.cause);
    std::string what = row.label.empty() ? "(all others)" : plain(row.label);
    if (!row.line.empty()) what += "  " + plain(analyze::short_line(row.line));
    text += fmt::format("  {:>4.0f} % {:>12}  {:<24} {}\n", 100 * row.share, shown_time(row.ns_per_step), cause, what);
  }
  const double share = lane.ns_per_step > 0 ? static_cast<double>(left_out) / static_cast<double>(lane.ns_per_step) : 0;
  if (share >= 0.001) text += fmt::format("  {:>4.0f} % {:>12}  the rest\n", 100 * share, shown_time(left_out));
  return text;
}

// "   step 75.600ms -> 31.000ms"
std::string prediction_text(const analyze::Finding& finding, const analyze::StepPrediction& prediction) {
  if (finding.cost_ns == 0) return {};
  if (!finding.predicted_step_ns)
    return prediction.problem.empty() ? "" : fmt::format("   gain not predicted: {}\n", plain(prediction.problem));
  if (prediction.is_without_gain(*finding.predicted_step_ns))
    return fmt::format("   no gain: a step would still take {}, because other work hides this\n", shown_time(*finding.predicted_step_ns));
  return fmt::format("   step {} -> {}{}\n", shown_time(prediction.base_ns), shown_time(*finding.predicted_step_ns),
                     finding.predicts_at_best ? " at best" : "");
}

// What the first findings gain together.
std::string combined_text(const analyze::StepPrediction& prediction) {
  const std::size_t count = std::min<std::size_t>(3, prediction.combined_ns.size());
  if (count < 2) return {};
  return fmt::format("\nThe first {} together: step {} -> {}\n", count == 2 ? "two" : "three", shown_time(prediction.base_ns),
                     shown_time(prediction.combined_ns[count - 1]));
}

std::string finding_text(const analyze::Finding& finding, const analyze::StepPrediction& prediction, std::size_t number) {
  std::string text = fmt::format("\n{}. {}", number, plain(finding.title));
  if (finding.cost_ns > 0) text += fmt::format(": {} per step ({:.0f} %)", shown_time(finding.cost_ns), 100 * finding.share);
  text += "\n" + prediction_text(finding, prediction);
  for (const std::string& line : finding.lines) text += fmt::format("   at {}\n", plain(line));
  for (const std::string& evidence : finding.evidence) text += fmt::format("   - {}\n", plain(evidence));
  return text + fmt::format("   > {}\n", finding.remedy);
}

}  // namespace

std::string report_text(const analyze::Report& report) {
  std::string text = plain(report.verdict.text) + "\n";
  if (!report.verdict.unknown.empty() && report.verdict.level != analyze::Judgement::Level::kUnknown)
    text += fmt::format("Not known: {}\n", plain(report.verdict.unknown));
  if (!report.verdict.next.empty()) text += fmt::format("Next: {}\n", report.verdict.next);
  text += "\n" + steps_text(report);
  text += plain(report.efficiency.summary()) + "\n";
  std::size_t others = 0;
  for (const analyze::CauseLane& lane : report.lanes) {
    if (!lane.is_main && !lane.is_device && ++others > kOtherLanes) continue;
    text += lane_text(lane, report.has_steps);
  }
  for (std::size_t k = 0; k < report.findings.size(); ++k) text += finding_text(report.findings[k], report.prediction, k + 1);
  text += combined_text(report.prediction);
  return text;
}

}  // namespace mindtorch::exporter

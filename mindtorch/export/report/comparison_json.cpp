// A comparison as JSON: shifts are [before, after, change, low, high], and an unknown bound is null.
#include "mindtorch/export/report/comparison_json.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace mindtorch::exporter {
namespace {

using analyze::DiffRow;
using analyze::Shift;
using analyze::WorkChange;

constexpr std::size_t kMostRows = 1500;
constexpr std::size_t kMostSteps = 1000;

std::string bound(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : "null"; }

std::string bounds_json(const Shift& shift) {
  return fmt::format("[{:.9g},{:.9g},{:.9g},{},{}]", shift.before, shift.after, shift.change, bound(shift.low), bound(shift.high));
}

// Steps at even distances if there are too many for a picture.
std::string step_times_json(const std::vector<double>& steps) {
  std::vector<std::string> shown;
  const std::size_t distance = steps.size() / kMostSteps + 1;
  for (std::size_t k = 0; k < steps.size(); k += distance) shown.push_back(fmt::format("{:.0f}", steps[k]));
  return numbers(shown);
}

std::vector<const DiffRow*> shown_rows(const analyze::Diff& diff) {
  std::vector<const DiffRow*> rows;
  for (const DiffRow& row : diff.rows) rows.push_back(&row);
  std::stable_partition(rows.begin(), rows.end(), [](const DiffRow* row) { return row->change != WorkChange::kNone; });
  if (rows.size() > kMostRows) rows.resize(kMostRows);
  return rows;
}

std::string row_json(const DiffRow& row, Names& names) {
  return fmt::format("[{},{},{},{},{},{},{},{},{}]", names.id(row.key.name), static_cast<int>(row.change), names.id(row.other_name),
                     names.id(trace::device_type_name(row.key.timeline)), names.id(row.key.shapes), names.id(row.key.module),
                     bounds_json(row.time), bounds_json(row.calls), bounds_json(row.memory));
}

// The parts of a step whose means differ most; the page sums up those that it leaves out.
std::string parts_json(const analyze::Diff& diff, Names& names) {
  const std::size_t count = std::min(diff.parts.size(), kMostRows);
  return list(std::span(diff.parts).first(count), [&](const analyze::DiffPart& part) {
    return fmt::format("[{},{},{},{:.9g},{:.9g},{},{},{},{}]", names.id(part.key.name), static_cast<int>(part.change),
                       names.id(part.key.cause), part.mean_before, part.mean_after, bounds_json(part.time), json_list(part.notes),
                       names.id(part.line), part.key.is_work ? 1 : 0);
  });
}

std::string change_names() {
  std::vector<std::string> all;
  for (int change = 0; change <= static_cast<int>(WorkChange::kMoved); ++change)
    all.emplace_back(analyze::work_change_name(static_cast<WorkChange>(change)));
  return json_list(all);
}

}  // namespace

std::string comparison_json(const Comparison& comparison, Names& names) {
  const analyze::Diff& diff = comparison.diff;
  const std::vector<const DiffRow*> rows = shown_rows(diff);
  std::string out =
      fmt::format(R"({{"baseline":{},"isFirst":{},"confidence":{},"stepTime":{},"deviceTime":{},"stepsBefore":{},"stepsAfter":{})",
                  quoted(short_name(comparison.baseline)), comparison.is_first_view, diff.confidence, bounds_json(diff.step_time),
                  bounds_json(diff.device_time), diff.steps_before.size(), diff.steps_after.size());
  out += fmt::format(R"(,"meanBefore":{:.9g},"meanAfter":{:.9g},"unusual":{:.9g},"explained":{:.9g},"parts":{},"partsLeftOut":{})",
                     diff.mean_before, diff.mean_after, diff.unusual_change(), diff.explained_ns(), parts_json(diff, names),
                     diff.parts.size() - std::min(diff.parts.size(), kMostRows));
  out += fmt::format(R"(,"before":{},"after":{},"changes":{},"leftOut":{},"details":{{}},"rows":{}}})", step_times_json(diff.steps_before),
                     step_times_json(diff.steps_after), change_names(), diff.rows.size() - rows.size(),
                     list(rows, [&](const DiffRow* row) { return row_json(*row, names); }));
  return out;
}

}  // namespace mindtorch::exporter

// A diff of two runs as text, JSON and CSV. JSON and CSV hold every row, and both have the same columns.
#include "mtprof/diff_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "mindtorch/analyze/units.h"
#include "mindtorch/base/text.h"
#include "mindtorch/export/markup.h"
#include "mindtorch/export/tabular/tabular_text.h"

namespace mindtorch::mtprof {
namespace {

using analyze::Diff;
using analyze::DiffRow;
using analyze::Shift;
using analyze::WorkChange;
using exporter::ColumnType;
using exporter::Value;

constexpr int kNameWidth = 45;

std::string percent(const Shift& shift, double value) {
  if (shift.before == 0) return value == 0 ? "0.0%" : "new";
  return fmt::format("{:+.1f}%", 100 * shift.relative(value));
}

std::string interval(const Shift& shift) {
  if (std::isinf(shift.low)) return "too few steps";
  return shift.before == 0 ? "" : fmt::format("{} .. {}", percent(shift, shift.low), percent(shift, shift.high));
}

std::string calls(const Shift& shift) {
  return shift.before == shift.after ? fmt::format("{:g}", shift.after) : fmt::format("{:g} -> {:g}", shift.before, shift.after);
}

std::string name_of(const DiffRow& row) {
  std::string name = row.change == WorkChange::kRenamed ? fmt::format("{} -> {}", row.other_name, row.key.name) : row.key.name;
  if (!row.key.module.empty()) name += fmt::format(" in {}", row.key.module);
  if (!row.key.shapes.empty()) name += fmt::format(" {}", row.key.shapes);
  return exporter::shortened(valid_utf8(name), kNameWidth);
}

std::string summary(std::string_view what, const Shift& shift) {
  return fmt::format("{:<12}{} -> {}  {}  ({})\n", what, analyze::format_time(shift.before / 1000),
                     analyze::format_time(shift.after / 1000), percent(shift, shift.change), interval(shift));
}

std::string line(const DiffRow& row) {
  return fmt::format("{:>{}}  {:>8}  {:>12}  {:>12}  {:>12}  {:>9}  {:>20}  {}\n", name_of(row), kNameWidth,
                     analyze::work_change_name(row.change), analyze::format_time(row.time.before / 1000),
                     analyze::format_time(row.time.after / 1000), fmt::format("{:+.3f}us", row.time.change / 1000),
                     percent(row.time, row.time.change), interval(row.time), calls(row.calls));
}

// An infinite bound has no number in JSON: it is left out.
Value finite(double value) { return std::isfinite(value) ? Value(value) : Value(); }

template <Shift DiffRow::*Member, double Shift::*Part>
Value part(const DiffRow& row) {
  return finite(row.*Member.*Part);
}

Value text_or_nothing(const std::string& text) { return text.empty() ? Value() : Value(text); }

constexpr auto kColumns = std::to_array<exporter::TabularColumn<DiffRow>>({
    {"name", ColumnType::kText, [](const DiffRow& r) -> Value { return r.key.name; }},
    {"change", ColumnType::kText, [](const DiffRow& r) -> Value { return std::string(analyze::work_change_name(r.change)); }},
    {"name_before", ColumnType::kText, [](const DiffRow& r) { return text_or_nothing(r.other_name); }},
    {"timeline", ColumnType::kText, [](const DiffRow& r) -> Value { return std::string(trace::device_type_name(r.key.timeline)); }},
    {"shapes", ColumnType::kText, [](const DiffRow& r) { return text_or_nothing(r.key.shapes); }},
    {"module", ColumnType::kText, [](const DiffRow& r) { return text_or_nothing(r.key.module); }},
    {"time_before_ns", ColumnType::kReal, part<&DiffRow::time, &Shift::before>},
    {"time_after_ns", ColumnType::kReal, part<&DiffRow::time, &Shift::after>},
    {"time_change_ns", ColumnType::kReal, part<&DiffRow::time, &Shift::change>},
    {"time_change_low_ns", ColumnType::kReal, part<&DiffRow::time, &Shift::low>},
    {"time_change_high_ns", ColumnType::kReal, part<&DiffRow::time, &Shift::high>},
    {"calls_before", ColumnType::kReal, part<&DiffRow::calls, &Shift::before>},
    {"calls_after", ColumnType::kReal, part<&DiffRow::calls, &Shift::after>},
    {"calls_change", ColumnType::kReal, part<&DiffRow::calls, &Shift::change>},
    {"calls_change_low", ColumnType::kReal, part<&DiffRow::calls, &Shift::low>},
    {"calls_change_high", ColumnType::kReal, part<&DiffRow::calls, &Shift::high>},
    {"memory_before", ColumnType::kReal, part<&DiffRow::memory, &Shift::before>},
    {"memory_after", ColumnType::kReal, part<&DiffRow::memory, &Shift::after>},
    {"memory_change", ColumnType::kReal, part<&DiffRow::memory, &Shift::change>},
    {"memory_change_low", ColumnType::kReal, part<&DiffRow::memory, &Shift::low>},
    {"memory_change_high", ColumnType::kReal, part<&DiffRow::memory, &Shift::high>},
});
constexpr std::span<const exporter::TabularColumn<DiffRow>> kRows(kColumns);

std::string shift_json(const Shift& shift) {
  std::string text = fmt::format("{{\"before_ns\":{},\"after_ns\":{},\"change_ns\":{}", shift.before, shift.after, shift.change);
  if (std::isfinite(shift.low)) text += fmt::format(",\"change_low_ns\":{},\"change_high_ns\":{}", shift.low, shift.high);
  return text + "}";
}

}  // namespace

std::string diff_text(const Diff& diff, const DiffNames& names, int row_limit, bool all) {
  std::string text = fmt::format("before      {} ({} steps)\nafter       {} ({} steps)\n", valid_utf8(names.before),
                                 diff.steps_before.size(), valid_utf8(names.after), diff.steps_after.size());
  text += summary("step time", diff.step_time);
  if (diff.device_time.before != 0 || diff.device_time.after != 0) text += summary("device time", diff.device_time);
  text += fmt::format("Intervals hold with {:g} % confidence. Times are self times per step.\n\n", 100 * diff.confidence);

  std::vector<const DiffRow*> shown;
  for (const DiffRow& row : diff.rows) {
    if (all || row.change != WorkChange::kNone) shown.push_back(&row);
  }
  const std::size_t limit = row_limit < 0 ? shown.size() : std::min(shown.size(), static_cast<std::size_t>(row_limit));
  if (limit > 0) {
    text += fmt::format("{:>{}}  {:>8}  {:>12}  {:>12}  {:>12}  {:>9}  {:>20}  {}\n", "Name", kNameWidth, "Change", "Before", "After",
                        "Difference", "Share", "Interval", "Calls");
    for (std::size_t i = 0; i < limit; ++i) text += line(*shown[i]);
  }
  if (limit < shown.size()) text += fmt::format("... and {} more rows (--limit)\n", shown.size() - limit);
  if (!all) text += fmt::format("{} of {} rows show no change beyond noise\n", diff.rows.size() - shown.size(), diff.rows.size());
  return text;
}

std::string diff_json(const Diff& diff, const DiffNames& names) {
  std::string text =
      fmt::format("{{\"before\":{},\"after\":{},\"steps_before\":{},\"steps_after\":{},\"confidence\":{},\n\"step_time\":{},\n",
                  json_quoted(names.before), json_quoted(names.after), diff.steps_before.size(), diff.steps_after.size(), diff.confidence,
                  shift_json(diff.step_time));
  text += fmt::format("\"device_time\":{},\n\"rows\":[", shift_json(diff.device_time));
  for (const DiffRow& row : diff.rows) {
    if (&row != diff.rows.data()) text += ",\n";
    append_object(text, kRows, row);
  }
  return text + "]}\n";
}

std::string diff_csv(const Diff& diff) {
  std::string text;
  append_names(text, kRows);
  for (const DiffRow& row : diff.rows) append_values(text, kRows, row);
  return text;
}

}  // namespace mindtorch::mtprof

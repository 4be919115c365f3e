// A diff of two runs as text, JSON and CSV. JSON and CSV hold every row, and both have the same columns.
#include "mtprof/diff_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "mindtorch/analyze/report/verdict.h"
#include "mindtorch/analyze/units.h"
#include "mindtorch/base/demangle.h"
#include "mindtorch/base/json_writer.h"
#include "mindtorch/base/text.h"
#include "mindtorch/export/markup.h"
#include "mindtorch/export/tabular/tabular_text.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {
namespace {

using analyze::Diff;
using analyze::DiffPart;
using analyze::DiffRow;
using analyze::Shift;
using analyze::WorkChange;
using exporter::ColumnType;
using exporter::Value;

constexpr int kNameWidth = 45;
constexpr int kPartWidth = 60;
constexpr double kWorthTelling = 0.005;  // of the change of the step, or of the step itself where that did not change

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
  std::string name = demangled(row.key.name);
  if (row.change == WorkChange::kRenamed) name = fmt::format("{} -> {}", demangled(row.other_name), name);
  if (!row.key.module.empty()) name += fmt::format(" in {}", row.key.module);
  if (!row.key.shapes.empty()) name += fmt::format(" {}", row.key.shapes);
  return exporter::shortened(shown(name), kNameWidth);
}

std::string signed_time(double ns) { return fmt::format("{}{}", ns < 0 ? "-" : "+", analyze::format_time(std::abs(ns) / 1000)); }

std::string part_line(const DiffPart& part) {
  std::string name = part.key.title();
  name = exporter::shortened(shown(name), kPartWidth);
  if (!part.line.empty()) name += fmt::format(", {}", shown(analyze::short_line(part.line)));
  for (const std::string& note : part.notes) name += fmt::format("; {}", exporter::shortened(shown(note), kPartWidth));
  return fmt::format("{:>12}  {:>12}  {:>12}  {:>8}  {}\n", signed_time(part.mean_change()), analyze::format_time(part.mean_before / 1000),
                     analyze::format_time(part.mean_after / 1000), analyze::work_change_name(part.change), name);
}

// The parts that changed and are worth a line, as indices into Diff::parts. The rest is told as one sum.
std::vector<const DiffPart*> told_parts(const Diff& diff, bool all) {
  const double whole = std::max(std::abs(diff.mean_change()), diff.step_time.is_change() ? 0 : diff.mean_before);
  std::vector<const DiffPart*> told;
  for (const DiffPart& part : diff.parts) {
    const bool is_worth = (part.change != WorkChange::kNone || !diff.has_steps) && std::abs(part.mean_change()) >= kWorthTelling * whole;
    if (all || is_worth) told.push_back(&part);
  }
  return told;
}

// The step as the sum of its parts: the lines add up to the change of the mean step.
std::string parts_text(const Diff& diff, int row_limit, bool all) {
  if (diff.parts.empty()) return "";
  std::vector<const DiffPart*> told = told_parts(diff, all);
  if (row_limit >= 0 && told.size() > static_cast<std::size_t>(row_limit)) told.resize(static_cast<std::size_t>(row_limit));
  double rest = diff.mean_change() - diff.unusual_change();
  for (const DiffPart* part : told) rest -= part->mean_change();
  std::string text;
  if (diff.step_time.is_change())
    text += fmt::format("The rows explain {} of the {} by which a {} changed.\n", signed_time(diff.explained_ns()),
                        signed_time(diff.mean_change() - diff.unusual_change()), diff.has_steps ? "usual step" : "run");
  if (!diff.has_steps) text += "Runs in which nothing repeats are single values: noise cannot be told from change.\n";
  text += fmt::format("\n{:>12}  {:>12}  {:>12}  {:>8}  {}\n", "Difference", "Before", "After", "Change", "Part of the step");
  for (const DiffPart* part : told) text += part_line(*part);
  if (told.size() < diff.parts.size())
    text += fmt::format("{:>12}  {:>12}  {:>12}  {:>8}  {}\n", signed_time(rest), "", "", "",
                        fmt::format("{} other parts: small, or no change beyond noise", diff.parts.size() - told.size()));
  if (diff.unusual_before != 0 || diff.unusual_after != 0)
    text += fmt::format("{:>12}  {:>12}  {:>12}  {:>8}  added by the slowest and the fastest tenth of the steps\n",
                        signed_time(diff.unusual_change()), analyze::format_time(diff.unusual_before / 1000),
                        analyze::format_time(diff.unusual_after / 1000), "");
  return text + fmt::format("{:>12}  {:>12}  {:>12}  {:>8}  the mean step\n\n", signed_time(diff.mean_change()),
                            analyze::format_time(diff.mean_before / 1000), analyze::format_time(diff.mean_after / 1000), "");
}

// Work on the thread of the loop is told with its part of the step, unless the user asked for rows by shape or by module.
bool is_told_as_part(const Diff& diff, const DiffRow& row) {
  const bool is_time = row.change != WorkChange::kCalls && row.change != WorkChange::kMoved && row.change != WorkChange::kRenamed;
  if (!is_time || row.key.timeline != trace::DeviceType::kCpu || !row.key.shapes.empty() || !row.key.module.empty()) return false;
  return std::ranges::any_of(diff.parts, [&](const DiffPart& part) {
    return part.change != WorkChange::kNone && part.key.is_work && part.key.name == row.key.name;
  });
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

void write_shift(JsonWriter& json, std::string_view name, const Shift& shift) {
  json.object_field(name, [&] {
    json.field("before_ns", shift.before).field("after_ns", shift.after).field("change_ns", shift.change);
    if (std::isfinite(shift.low)) json.field("change_low_ns", shift.low).field("change_high_ns", shift.high);
  });
}

}  // namespace

std::string diff_text(const Diff& diff, const DiffNames& names, int row_limit, bool all) {
  const auto what = [&](std::size_t steps) {
    return diff.has_steps ? fmt::format("{} {}s", steps, shown(diff.unit)) : std::string("nothing repeats in it");
  };
  std::string text = fmt::format("before      {} ({})\nafter       {} ({})\n", shown(names.before), what(diff.steps_before.size()),
                                 shown(names.after), what(diff.steps_after.size()));
  text += summary(diff.has_steps ? "step time" : "whole run", diff.step_time);
  if (diff.device_time.before != 0 || diff.device_time.after != 0) text += summary("device time", diff.device_time);
  text += fmt::format("Intervals hold with {:g} % confidence, and compare medians. Parts are compared by their means, which add up.\n",
                      100 * diff.confidence);
  text += parts_text(diff, row_limit, all);

  std::vector<const DiffRow*> rows;
  for (const DiffRow& row : diff.rows) {
    if (all || (row.change != WorkChange::kNone && !is_told_as_part(diff, row))) rows.push_back(&row);
  }
  const std::size_t limit = row_limit < 0 ? rows.size() : std::min(rows.size(), static_cast<std::size_t>(row_limit));
  if (limit > 0) {
    text += "Work by name, on all threads and devices; times are self times per step.\n";
    text += fmt::format("{:>{}}  {:>8}  {:>12}  {:>12}  {:>12}  {:>9}  {:>20}  {}\n", "Name", kNameWidth, "Change", "Before", "After",
                        "Difference", "Share", "Interval", "Calls");
    for (std::size_t i = 0; i < limit; ++i) text += line(*rows[i]);
  }
  if (limit < rows.size()) text += fmt::format("... and {} more rows (--limit)\n", rows.size() - limit);
  const auto same = std::ranges::count(diff.rows, WorkChange::kNone, &DiffRow::change);
  if (!all) text += fmt::format("{} of {} kinds of work show no change beyond noise\n", same, diff.rows.size());
  return text;
}

std::string diff_json(const Diff& diff, const DiffNames& names) {
  JsonWriter json;
  json.object([&] {
    json.field("before", names.before).field("after", names.after).field("steps_before", diff.steps_before.size());
    json.field("steps_after", diff.steps_after.size()).field("confidence", diff.confidence).line_break();
    write_shift(json, "step_time", diff.step_time);
    json.line_break();
    write_shift(json, "device_time", diff.device_time);
    json.line_break().list_field("rows", diff.rows, [&](const DiffRow& row) {
      std::string object;
      append_object(object, kRows, row);
      json.json(object).line_break();
    });
    json.line_break().field("mean_before_ns", diff.mean_before).field("mean_after_ns", diff.mean_after);
    json.field("unusual_before_ns", diff.unusual_before).field("unusual_after_ns", diff.unusual_after);
    json.field("explained_ns", diff.explained_ns()).list_field("parts", diff.parts, [&](const DiffPart& part) {
      json.object([&] {
        json.field("cause", part.key.cause).field("name", part.key.name).field("line", part.line);
        json.field("change", analyze::work_change_name(part.change)).field("mean_before_ns", part.mean_before);
        json.field("mean_after_ns", part.mean_after).list_field("notes", part.notes);
      });
      json.line_break();
    });
  });
  return json.take() + "\n";
}

std::string diff_csv(const Diff& diff) {
  std::string text;
  append_names(text, kRows);
  for (const DiffRow& row : diff.rows) append_values(text, kRows, row);
  return text;
}

}  // namespace mindtorch::mtprof

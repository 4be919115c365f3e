// Efficiency as tables in a terminal.
#include "mtprof/efficiency_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "mindtorch/analyze/units.h"
#include "mindtorch/base/demangle.h"
#include "mindtorch/export/markup.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {
namespace {

using analyze::Efficiency;
using analyze::Work;
using analyze::WorkAtLimit;

constexpr std::size_t kMostWithoutModel = 8;
constexpr std::size_t kLongestName = 60, kLongestShapes = 70;

std::string time(double ns) { return analyze::format_time(ns / 1e3); }
std::string name(std::string_view text, std::size_t longest) { return shown(exporter::shortened(demangled(text), longest)); }

std::string devices_text(const Efficiency& efficiency) {
  std::string text;
  for (const analyze::DeviceLimit& limit : efficiency.devices) {
    if (!limit.is_known) {
      text += fmt::format("{}: {}\n", shown(limit.name), shown(limit.problem));
      continue;
    }
    text += fmt::format("{} ({}):", shown(limit.name), shown(limit.peaks.source));
    for (std::size_t unit = 0; unit < trace::kComputeUnits; ++unit) {
      if (limit.peaks.tflops[unit] > 0)
        text += fmt::format(" {} {},", trace::kComputeUnitNames[unit], analyze::rate_text(limit.peaks.tflops[unit], "FLOP/s"));
    }
    text += fmt::format(" memory {}\n", limit.peaks.tbytes > 0 ? analyze::rate_text(limit.peaks.tbytes, "B/s") : "not known");
    if (limit.ran_at_mhz > 0 && limit.peaks.clock_mhz > 0)
      text += fmt::format("  it ran at {:.0f} of {:.0f} MHz: of the peaks of compute, {:.0f} % could be reached\n", limit.ran_at_mhz,
                          limit.peaks.clock_mhz, 100 * limit.clock_share());
  }
  return text;
}

// Rates of a CPU are smaller by a thousand.
struct Rates {
  explicit Rates(const Efficiency& efficiency) : scale(efficiency.is_on_device ? 1 : 1000), prefix(efficiency.is_on_device ? 'T' : 'G') {}
  double scale;
  char prefix;
};

std::string work_text(const Work& work, const Rates& unit) {
  const std::string rates = fmt::format("{:>9.3f} {:>9.3f}", unit.scale * work.tflops(), unit.scale * work.tbytes());
  if (!work.has_limit()) return fmt::format("{:>10} {:>10} {} {:>8} {:>8}", "-", time(static_cast<double>(work.time_ns)), rates, "-", "-");
  return fmt::format("{:>10} {:>10} {} {:>8} {:>6.1f} %", time(work.above_limit_ns()), time(static_cast<double>(work.time_ns)), rates,
                     work.is_bound_by_memory() ? "memory" : "compute", 100 * work.share_of_limit());
}

std::string titles(const Rates& unit) {
  return fmt::format("above limit       time   {0}FLOP/s      {0}B/s    bound of limit", unit.prefix);
}

std::string rows_text(const std::vector<WorkAtLimit>& rows, std::size_t most_rows, const Rates& unit) {
  std::string text = fmt::format("\n {}  calls  unit       name\n", titles(unit));
  for (const WorkAtLimit& row : std::span(rows).first(std::min(rows.size(), most_rows))) {
    text += fmt::format(" {} {:>6}  {:<10} {}{}\n", work_text(row.work, unit), row.work.calls,
                        row.unit ? trace::compute_unit_name(*row.unit) : "-", name(row.name, kLongestName),
                        row.shapes.empty() ? "" : " " + name(row.shapes, kLongestShapes));
    if (!row.explanation.empty()) text += fmt::format("     above 100 %: {}\n", row.explanation);
  }
  if (rows.size() > most_rows) text += fmt::format(" {} more rows\n", rows.size() - most_rows);
  return text;
}

std::string steps_text(const Efficiency& efficiency, std::size_t most_rows) {
  const Rates unit(efficiency);
  std::string text = fmt::format("\n {}   MFU    HFU    duration  step\n", titles(unit));
  for (const analyze::StepAtLimit& step : std::span(efficiency.steps).first(std::min(efficiency.steps.size(), most_rows))) {
    text += fmt::format(" {} {:>4.1f} % {:>4.1f} % {:>10}  {}\n", work_text(step.work, unit), 100 * step.mfu, 100 * step.hfu,
                        time(static_cast<double>(step.duration_ns)), step.number);
  }
  if (efficiency.steps.size() > most_rows) text += fmt::format(" {} more steps\n", efficiency.steps.size() - most_rows);
  return text;
}

std::string without_model_text(const Efficiency& efficiency) {
  if (efficiency.without_model.empty() || efficiency.work_ns == 0) return "";
  std::string text = "\nWithout a model:\n";
  std::size_t rows = 0;
  for (const analyze::WithoutModel& row : efficiency.without_model) {
    if (++rows > kMostWithoutModel) break;
    text += fmt::format(" {:>5.1f} % {:>10} {:>7}  {}\n", 100 * static_cast<double>(row.time_ns) / static_cast<double>(efficiency.work_ns),
                        time(static_cast<double>(row.time_ns)), row.calls, name(row.name, kLongestName));
  }
  return text;
}

}  // namespace

EfficiencyTable efficiency_table(std::string_view name) {
  if (name == "kernels") return EfficiencyTable::kKernels;
  if (name == "modules") return EfficiencyTable::kModules;
  return name == "steps" ? EfficiencyTable::kSteps : EfficiencyTable::kOps;
}

std::string efficiency_text(const Efficiency& efficiency, EfficiencyTable table, std::size_t most_rows) {
  std::string text = devices_text(efficiency);
  const Rates unit(efficiency);
  switch (table) {
    case EfficiencyTable::kOps: text += rows_text(efficiency.ops, most_rows, unit); break;
    case EfficiencyTable::kKernels: text += rows_text(efficiency.kernels, most_rows, unit); break;
    case EfficiencyTable::kModules: text += rows_text(efficiency.modules, most_rows, unit); break;
    case EfficiencyTable::kSteps: text += steps_text(efficiency, most_rows); break;
  }
  return text + without_model_text(efficiency) + "\n" + shown(efficiency.summary()) + "\n";
}

}  // namespace mindtorch::mtprof

// Report: asks all of its parts.
#include "mindtorch/analyze/report/report.h"

#include <algorithm>
#include <future>

#include "mindtorch/analyze/report/ledger.h"
#include "mindtorch/base/statistics.h"

namespace mindtorch::analyze {
namespace {

std::vector<StepPhases> thinned_out(const std::vector<StepPhases>& steps, std::size_t most) {
  if (steps.size() <= most) return steps;
  std::vector<std::int64_t> durations;
  for (const StepPhases& step : steps) durations.push_back(step.duration_ns);
  const std::size_t slowest = most / 4;
  std::ranges::nth_element(durations, durations.begin() + static_cast<std::ptrdiff_t>(slowest), std::ranges::greater{});
  const std::int64_t slow = durations[slowest];
  const std::size_t distance = steps.size() / (most - slowest) + 1;
  std::vector<StepPhases> kept;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (k % distance == 0 || steps[k].duration_ns > slow) kept.push_back(steps[k]);
  }
  return kept;
}

}  // namespace

Report make_report(const Analysis& analysis, std::size_t most_steps, const KnownPeaks& peaks) {
  Report report;
  // These need nothing of the rest.
  std::future<void> beside = std::async(std::launch::async, [&] {
    report.op_flame = op_flame(analysis);
    report.stack_flame = stack_flame(analysis);
    report.memory = memory_views(analysis);
    report.efficiency = find_efficiency(analysis, peaks);
  });
  const Phases phases(analysis);
  report.has_steps = phases.has_steps();
  report.has_device_work = phases.has_device_work();
  std::vector<std::int64_t> durations;
  for (const StepPhases& step : phases.steps()) durations.push_back(step.duration_ns);
  report.step_count = phases.has_steps() ? durations.size() : 0;
  report.unit = phases.unit();
  report.median_step_ns = median_of(durations);
  std::ranges::sort(durations);
  report.p95_step_ns = durations.empty() ? 0 : durations[std::min(durations.size() - 1, durations.size() * 95 / 100)];
  report.steps = thinned_out(phases.steps(), most_steps);
  report.slices = phases.slices();
  report.tables = work_tables(analysis, phases);
  Ledger ledger(analysis, phases);
  report.mean_step_ns = ledger.mean_ns();
  report.kinds = phases.kinds();
  report.findings = find_findings(analysis, phases, report.tables, ledger, &report.prediction);
  report.verdict = find_verdict(analysis, phases, ledger, report.findings);
  report.lanes = cause_lanes(analysis, phases, ledger);
  report.timelines = timeline_views(analysis, phases);
  beside.get();
  return report;
}

}  // namespace mindtorch::analyze

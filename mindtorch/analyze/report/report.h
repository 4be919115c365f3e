// Report: what a page about one recording shows, aggregated, so that a page about a million events is as small as one about a thousand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/efficiency/efficiency.h"
#include "mindtorch/analyze/report/cause_lanes.h"
#include "mindtorch/analyze/report/findings.h"
#include "mindtorch/analyze/report/flame.h"
#include "mindtorch/analyze/report/memory_view.h"
#include "mindtorch/analyze/report/phases.h"
#include "mindtorch/analyze/report/timeline_view.h"
#include "mindtorch/analyze/report/verdict.h"
#include "mindtorch/analyze/report/work_tables.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

struct Report {
  bool has_steps = false;
  bool has_device_work = false;
  std::vector<StepPhases> steps;   // at most `most_steps`: the slowest, and others at even distances
  std::vector<StepPhases> slices;  // of the time; only without steps
  std::size_t step_count = 0;
  std::string unit = "step";  // what a step is called: "step", "iteration", the name of a scope
  std::int64_t median_step_ns = 0;
  std::int64_t mean_step_ns = 0;  // of the steps that are judged (all but the first of more than three), with the time to the next one
  std::int64_t p95_step_ns = 0;
  Judgement verdict;
  std::vector<CauseLane> lanes;
  std::vector<StepKind> kinds;
  std::vector<Finding> findings;
  StepPrediction prediction;
  WorkTables tables;
  std::vector<FlameNode> op_flame;
  std::vector<FlameNode> stack_flame;
  std::vector<MemoryView> memory;
  std::vector<TimelineView> timelines;
  Efficiency efficiency;
};

inline constexpr std::size_t kMostSteps = 2000;  // that a page shows

// O(events). `most_steps` bounds the size of the result, as the options of the parts do. `peaks` are those that the table does not have.
MINDTORCH_EXPORT Report make_report(const Analysis& analysis, std::size_t most_steps = kMostSteps, const KnownPeaks& peaks = {});

}  // namespace mindtorch::analyze

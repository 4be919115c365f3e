// The columns of averages, events, counters, steps and samples of threads: one list for each, which CSV, JSON and Arrow share.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/counters.h"
#include "mindtorch/analyze/efficiency/efficiency.h"
#include "mindtorch/analyze/function_event.h"
#include "mindtorch/analyze/key_averages.h"
#include "mindtorch/analyze/steps.h"
#include "mindtorch/export/tabular/tabular_text.h"

namespace mindtorch::exporter {

// An event and what was recorded with it.
struct EventRow {
  analyze::FunctionEvent event;
  const trace::RecordedOptions& options;
};

// One value of a counter.
struct CounterRow {
  const analyze::Counter& counter;
  std::size_t at;
};

// A row of one of the tables of an Efficiency.
struct EfficiencyRow {
  std::string_view kind;  // "op", "kernel" or "module"
  const analyze::WorkAtLimit& row;
};
std::vector<EfficiencyRow> efficiency_rows(const analyze::Efficiency& efficiency);

// One sample of a thread.
struct SampleRow {
  const trace::Recording& recording;
  std::size_t at;
};

std::span<const TabularColumn<analyze::Average>> average_columns();
std::span<const TabularColumn<EventRow>> event_columns();
std::span<const TabularColumn<CounterRow>> counter_columns();
std::span<const TabularColumn<EfficiencyRow>> efficiency_columns();
std::span<const TabularColumn<analyze::Step>> step_columns();
std::span<const TabularColumn<SampleRow>> sample_columns();

}  // namespace mindtorch::exporter

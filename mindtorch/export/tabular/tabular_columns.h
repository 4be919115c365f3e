// The columns of averages, events and counters: one list for each, which CSV, JSON and Arrow share.
#pragma once

#include <cstddef>
#include <span>

#include "mindtorch/analyze/counters.h"
#include "mindtorch/analyze/function_event.h"
#include "mindtorch/analyze/key_averages.h"
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

std::span<const TabularColumn<analyze::Average>> average_columns();
std::span<const TabularColumn<EventRow>> event_columns();
std::span<const TabularColumn<CounterRow>> counter_columns();

}  // namespace mindtorch::exporter

// Averages, events, counters and steps as streams of Arrow's C interface, for data frames and databases. The columns are those of CSV and
// JSON.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "mindtorch/analyze/counters.h"
#include "mindtorch/analyze/efficiency/efficiency.h"
#include "mindtorch/analyze/function_event.h"
#include "mindtorch/analyze/key_averages.h"
#include "mindtorch/analyze/steps.h"
#include "mindtorch/base/export.h"
#include "mindtorch/export/tabular/arrow_abi.h"

namespace mindtorch::exporter {

// Each fills `out` with a stream that needs none of the arguments any more. The caller owns it: it calls out->release, or moves the struct.
MINDTORCH_EXPORT void open_events_stream(const trace::RecordedOptions& options, std::size_t size,
                                         const std::function<analyze::FunctionEvent(std::size_t)>& event_at, ArrowArrayStream* out);
MINDTORCH_EXPORT void open_averages_stream(const std::vector<analyze::Average>& rows, ArrowArrayStream* out);
MINDTORCH_EXPORT void open_counters_stream(const std::vector<analyze::Counter>& counters, ArrowArrayStream* out);
MINDTORCH_EXPORT void open_steps_stream(const std::vector<analyze::Step>& steps, ArrowArrayStream* out);
MINDTORCH_EXPORT void open_efficiency_stream(const analyze::Efficiency& efficiency, ArrowArrayStream* out);
MINDTORCH_EXPORT void open_samples_stream(const trace::Recording& recording, ArrowArrayStream* out);

}  // namespace mindtorch::exporter

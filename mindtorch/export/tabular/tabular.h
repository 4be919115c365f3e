// Averages, events and counters as JSON and CSV, for programs. Times are microseconds with nanosecond digits, sizes bytes.
//
// Any name is safe: JSON strings are escaped, CSV fields quoted (RFC 4180), invalid UTF-8 replaced.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/counters.h"
#include "mindtorch/analyze/efficiency/efficiency.h"
#include "mindtorch/analyze/events.h"
#include "mindtorch/analyze/key_averages.h"
#include "mindtorch/base/export.h"

namespace mindtorch::exporter {

// Receives the text in pieces of some tens of kilobytes; a million events need no more memory than one piece.
using TextSink = std::function<void(std::string_view)>;

// One object: {"rows": [...], "total": {...}, "losses": [...]}.
MINDTORCH_EXPORT void write_averages_json(const analyze::KeyAverages& averages, const TextSink& sink);
// One line per row, below a line of column names.
MINDTORCH_EXPORT void write_averages_csv(const analyze::KeyAverages& averages, const TextSink& sink);

// One object: {"events": [...], "losses": [...]}. Shapes, stacks, memory and FLOPs are there only if they were recorded.
MINDTORCH_EXPORT void write_events_json(const analyze::Events& events, const TextSink& sink);
MINDTORCH_EXPORT void write_events_csv(const analyze::Events& events, const TextSink& sink);

// One line per value of a counter.
MINDTORCH_EXPORT void write_efficiency_csv(const analyze::Efficiency& efficiency, const TextSink& sink);
MINDTORCH_EXPORT void write_counters_csv(const std::vector<analyze::Counter>& counters, const TextSink& sink);
// What the threads did whenever a sampler looked at them.
MINDTORCH_EXPORT void write_samples_csv(const trace::Recording& recording, const TextSink& sink);

// The same, whole.
MINDTORCH_EXPORT std::string averages_json(const analyze::KeyAverages& averages);
MINDTORCH_EXPORT std::string averages_csv(const analyze::KeyAverages& averages);
MINDTORCH_EXPORT std::string events_json(const analyze::Events& events);
MINDTORCH_EXPORT std::string events_csv(const analyze::Events& events);

}  // namespace mindtorch::exporter

// Averages and events as JSON and CSV, for programs. Times are microseconds with nanosecond digits, sizes bytes.
//
// Any name is safe: JSON strings are escaped, CSV fields quoted (RFC 4180), invalid UTF-8 replaced.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "mindtorch/analyze/events.h"
#include "mindtorch/analyze/key_averages.h"

namespace mindtorch::analyze {

// Receives the text in pieces of some tens of kilobytes; a million events need no more memory than one piece.
using TextSink = std::function<void(std::string_view)>;

// One object: {"rows": [...], "total": {...}, "losses": [...]}.
void write_averages_json(const KeyAverages& averages, const TextSink& sink);
// One line a row below a line of column names.
void write_averages_csv(const KeyAverages& averages, const TextSink& sink);

// One object: {"events": [...], "losses": [...]}. Shapes, stacks, memory and FLOPs are there only if they were recorded.
void write_events_json(const Events& events, const TextSink& sink);
void write_events_csv(const Events& events, const TextSink& sink);

// The same, whole.
std::string averages_json(const KeyAverages& averages);
std::string averages_csv(const KeyAverages& averages);
std::string events_json(const Events& events);
std::string events_csv(const Events& events);

}  // namespace mindtorch::analyze

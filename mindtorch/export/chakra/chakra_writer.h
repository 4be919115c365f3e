// Chakra execution traces (schema 1.1.1-chakra.0.0.4), as torch's ExecutionTraceObserver writes them: calls with their callers and
// arguments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/trace/call_details.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

// A part of the recording's timeline, in nanoseconds.
struct TimeWindow {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// What a trace has besides the recording.
struct ChakraOptions {
  std::vector<TimeWindow> windows;                  // only events that began in one of them; none given: all
  const trace::CallDetailsById* details = nullptr;  // of calls whose events have the attribute trace::kCallId
  std::string process_groups;                       // JSON; "": there are none
};

// Writes the ops, autograd nodes and scopes of `recording` to `path` (".gz": compressed). A node's rf_id is the "Record function id" of its
// event in the Chrome trace. Calls without details have the inputs of the recording, no outputs and no schema. Can be repeated. Throws
// IoError.
void write_chakra_trace(const trace::Recording& recording, const std::string& path, const ChakraOptions& options = {});

}  // namespace mindtorch::exporter

// Chakra execution traces (schema 1.1.1-chakra.0.0.4), as torch's ExecutionTraceObserver writes them: calls with their callers and
// arguments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

// A part of the recording's timeline, in nanoseconds.
struct TimeWindow {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// Writes the ops, autograd nodes and scopes of `recording` that began in one of `windows` (none given: all of them) to `path` (".gz":
// compressed). A node's rf_id is the "External id" of its event in the Chrome trace. Outputs of ops and identities of tensors are not
// recorded, so they are empty and 0. Can be repeated. Throws IoError.
void write_chakra_trace(const trace::Recording& recording, const std::string& path, const std::vector<TimeWindow>& windows = {});

}  // namespace mindtorch::exporter

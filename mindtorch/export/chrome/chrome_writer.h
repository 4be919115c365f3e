// Chrome trace event format, in torch's schema: what Perfetto, chrome://tracing, TensorBoard and Holistic Trace Analysis read.
#pragma once

#include <string>

#include "mindtorch/export/output.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

// Writes `recording` to `path` (".gz": compressed). Can be repeated: the recording is only read. Throws IoError.
void write_chrome_trace(const trace::Recording& recording, const std::string& path);

// The same text into an Output that the caller commits. `trace_name` is what the file says it is called.
void write_chrome_trace(const trace::Recording& recording, std::string_view trace_name, Output& out);

}  // namespace mindtorch::exporter

// Writes the Chrome trace event format in torch's schema, which Perfetto, chrome://tracing, TensorBoard and Holistic Trace Analysis read.
#pragma once

#include <string>

#include "mindtorch/export/output.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

// Writes `recording` to `path` (".gz": compressed). Can be repeated: the recording is only read. Throws IoError.
void write_chrome_trace(const trace::Recording& recording, const std::string& path);

// Writes the same text to an Output that the caller commits. `trace_name` is the name that the file contains.
void write_chrome_trace(const trace::Recording& recording, std::string_view trace_name, Output& out);

}  // namespace mindtorch::exporter

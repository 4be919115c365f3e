// Perfetto's own format (.pftrace): a protobuf trace several times smaller than JSON, with arrows that are also right for
// overlapping kernels.
#pragma once

#include <string>

#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

// Writes `recording` to `path` (".gz": compressed). Can be repeated. Throws IoError.
void write_perfetto_trace(const trace::Recording& recording, const std::string& path);

}  // namespace mindtorch::exporter

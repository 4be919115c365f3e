// Counters as elements of "traceEvents".
#pragma once

#include <cstdint>

#include "mindtorch/export/layout.h"
#include "mindtorch/export/output.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter::chrome {

// One event of phase "C" for each sample, in the process of its device; the argument is named after the unit. Each element is followed by
// a comma and a newline. `offset_ns` is added to times of the recording.
void append_counters(const trace::Recording& recording, const Layout& layout, std::int64_t offset_ns, Output& out);

}  // namespace mindtorch::exporter::chrome

// Samples of threads as the events of phase P in which Chrome keeps profiles of its own threads. Perfetto and Chrome's developer tools show
// them as callstacks of a thread.
#pragma once

#include <cstdint>

#include "mindtorch/export/layout.h"
#include "mindtorch/export/output.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter::chrome {

// One profile for each thread that has samples, in events of a thousand samples each. `offset_ns` is added to all times.
void append_samples(const trace::Recording& recording, const Layout& layout, std::int64_t offset_ns, Output& out);

}  // namespace mindtorch::exporter::chrome

// Samples of threads as packets: Perfetto shows them as a row of callstacks below each thread, and as a flame graph of a selection.
#pragma once

#include <cstdint>

#include "mindtorch/export/layout.h"
#include "mindtorch/export/output.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter::perfetto {

// All samples of the recording, as a sequence of their own. Nothing is written without samples.
void append_samples(Output& out, std::uint32_t sequence_id, const trace::Recording& recording, const Layout& layout);

}  // namespace mindtorch::exporter::perfetto

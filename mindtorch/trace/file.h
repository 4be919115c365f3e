// Writes a Recording as a file (suffix .mtrec): versioned, in checksummed zstd chunks, readable up to any damage. Its reader is
// ingest::load_recording().
#pragma once

#include <string>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

// Writes the file whole or not at all. Throws IoError; InvalidArgument if the recording breaks an invariant.
MINDTORCH_EXPORT void save(const Recording& recording, const std::string& path, int zstd_level = 1);

}  // namespace mindtorch::trace

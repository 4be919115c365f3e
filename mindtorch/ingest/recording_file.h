// Reads recording files (.mtrec), which trace::save() and spilling sessions write.
#pragma once

#include <string>
#include <string_view>

#include "mindtorch/base/export.h"
#include "mindtorch/ingest/read_options.h"
#include "mindtorch/trace/load_result.h"

namespace mindtorch::ingest {

// Throws IoError if the file cannot be read, InvalidArgument if it is not a recording file or of a newer major version, Error if it needs
// more memory than `options` allow.
MINDTORCH_EXPORT trace::LoadResult load_recording(const std::string& path, const ReadOptions& options = {});

// Like load_recording(), for a file that is in memory already. `path` is used in messages.
MINDTORCH_EXPORT trace::LoadResult load_recording_bytes(std::string_view bytes, const std::string& path, const ReadOptions& options = {});

// True if the file starts like a recording file, false if it does not or cannot be read.
MINDTORCH_EXPORT bool is_recording_file(const std::string& path);

}  // namespace mindtorch::ingest

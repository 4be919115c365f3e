// One call for every file format: the suffix of the path chooses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

struct TraceFormat {
  std::string_view suffix;  // ".json"; the longest that fits a path decides
  std::string_view what;    // for lists shown to a user
};

// The formats that export_trace() can write.
MINDTORCH_EXPORT const std::vector<TraceFormat>& formats();

// Writes `recording` in the format the path's suffix names, whole or not at all. Throws IoError, or InvalidArgument with the list of
// suffixes for any other suffix.
MINDTORCH_EXPORT void export_trace(const trace::Recording& recording, const std::string& path);

}  // namespace mindtorch::exporter

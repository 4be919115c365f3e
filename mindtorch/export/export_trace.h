// One call for every file format: the suffix of the path chooses.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

struct TraceFormat {
  std::string_view suffix;  // ".json"; the longest that fits a path decides
  std::string_view what;    // for lists shown to a user
};

// The formats that export_trace() can write.
MINDTORCH_EXPORT std::vector<TraceFormat> formats();

// Adds a format that something outside of this library writes, as the Python package does with Parquet. A second writer of a suffix takes
// the place of the first. The texts of `format` must stay valid. Any thread may call it.
using TraceWriter = std::function<void(const analyze::Analysis& analysis, const std::string& path)>;
MINDTORCH_EXPORT void add_format(const TraceFormat& format, TraceWriter write);

// Writes the recording of `analysis` in the format the path's suffix names, whole or not at all. Throws IoError, or InvalidArgument with
// the list of suffixes for any other suffix, and what a writer from outside throws.
MINDTORCH_EXPORT void export_trace(const analyze::Analysis& analysis, const std::string& path);
MINDTORCH_EXPORT void export_trace(const trace::Recording& recording, const std::string& path);

// torch's export_chrome_trace(): Chrome's format whatever the name, but for ".pftrace" (Perfetto's); ".gz" is compressed. Throws IoError.
MINDTORCH_EXPORT void export_chrome_trace(const trace::Recording& recording, const std::string& path);

}  // namespace mindtorch::exporter

// What stands before "traceEvents" in a Chrome trace: torch's keys, the user's metadata, and one object with what torch has no key for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mindtorch/export/layout.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter::chrome {

// Unix time that "ts" counts from: the start of a period of about three months, as in torch, so that traces of many ranks line up without
// looking, and a double still holds every nanosecond.
std::int64_t base_time_ns(const trace::Recording& recording);

// From the opening brace up to and including `"traceEvents": [`. One key a line: some readers look for keys line by line.
std::string header_text(const trace::Recording& recording, const Layout& layout, bool devices_known);

// `json` with a blank after each colon and comma between values; Holistic Trace Analysis finds the rank only as `"rank": 3`.
std::string spaced_json(std::string_view json);

}  // namespace mindtorch::exporter::chrome

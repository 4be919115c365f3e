// The part of a Chrome trace before "traceEvents": torch's keys, the user's metadata, and one object with everything that has no key in
// torch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mindtorch/export/layout.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter::chrome {

// The Unix time that "ts" is relative to: the start of a period of about three months, as in torch. Traces of many ranks then have the same
// base, and a double still represents every nanosecond.
std::int64_t base_time_ns(const trace::Recording& recording);

// From the opening brace up to and including `"traceEvents": [`. There is one key per line, because some readers search line by line.
std::string header_text(const trace::Recording& recording, const Layout& layout, bool devices_known);

// `json` with a blank after each colon and comma between values; Holistic Trace Analysis finds the rank only as `"rank": 3`.
std::string spaced_json(std::string_view json);

}  // namespace mindtorch::exporter::chrome

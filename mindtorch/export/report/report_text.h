// A report for a terminal: the verdict, where a step goes, and the findings.
#pragma once

#include <string>

#include "mindtorch/analyze/report/report.h"
#include "mindtorch/base/export.h"

namespace mindtorch::exporter {

// The first line is the verdict. Names come from the recording, and hold no control characters here.
MINDTORCH_EXPORT std::string report_text(const analyze::Report& report);

}  // namespace mindtorch::exporter

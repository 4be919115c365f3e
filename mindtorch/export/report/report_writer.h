// The report: one page that needs nothing but a browser.
#pragma once

#include <string>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/report/report.h"
#include "mindtorch/base/export.h"
#include "mindtorch/export/report/comparison.h"

namespace mindtorch::exporter {

// Writes the page, whole or not at all. `title` is shown at its top, such as the name of the recording. With a comparison, the page has one
// more view. Throws IoError.
MINDTORCH_EXPORT void write_report(const analyze::Analysis& analysis, const analyze::Report& report, const std::string& path,
                                   const std::string& title = "", const Comparison* comparison = nullptr);

}  // namespace mindtorch::exporter

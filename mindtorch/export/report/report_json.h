// A report as JSON: the data of the page, and the findings alone.
#pragma once

#include <string>
#include <string_view>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/report/report.h"
#include "mindtorch/base/export.h"
#include "mindtorch/export/report/comparison.h"

namespace mindtorch::exporter {

// Everything that the page shows. Names are in one list and are referred to by number; tables are lists of rows without keys. The text
// holds no "<", so that it can lie inside an element of a page whatever the names are.
std::string report_json(const analyze::Analysis& analysis, const analyze::Report& report, std::string_view title,
                        const Comparison* comparison = nullptr);

// {"step_ns", "steps", "findings": [{"id", "title", "cost_ns", "share", "evidence", "remedy", "ops", "lines"}]}
MINDTORCH_EXPORT std::string findings_json(const analyze::Report& report);

}  // namespace mindtorch::exporter

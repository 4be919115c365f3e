// Efficiency as JSON: for the page of a report, and for programs.
#pragma once

#include <cstddef>
#include <string>

#include "mindtorch/analyze/efficiency/efficiency.h"
#include "mindtorch/base/export.h"

namespace mindtorch::exporter {

// At most `most_rows` of each table, most time above the limit first; the text holds no "<".
MINDTORCH_EXPORT std::string efficiency_json(const analyze::Efficiency& efficiency, std::size_t most_rows);

// The numbers of the whole recording, without tables.
std::string efficiency_totals_json(const analyze::Efficiency& efficiency);

// The peaks as a file that `--peaks` reads.
MINDTORCH_EXPORT std::string peaks_json(const trace::DevicePeaks& peaks);

}  // namespace mindtorch::exporter

// The comparison with another run, as the page of a report needs it.
#pragma once

#include <string>

#include "mindtorch/export/report/comparison.h"
#include "mindtorch/export/report/json_parts.h"

namespace mindtorch::exporter {

// At most 1500 rows: those that changed, then those with the largest difference.
std::string comparison_json(const Comparison& comparison, Names& names);

}  // namespace mindtorch::exporter

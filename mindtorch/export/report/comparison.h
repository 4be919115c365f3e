// Comparison: the run that a report compares its recording with.
#pragma once

#include <string>

#include "mindtorch/analyze/diff/diff.h"

namespace mindtorch::exporter {

struct Comparison {
  std::string baseline;        // the name of the other run, as the page shows it
  analyze::Diff diff;          // from the other run to that of the report
  bool is_first_view = false;  // the page opens with the comparison, not with the overview
};

}  // namespace mindtorch::exporter

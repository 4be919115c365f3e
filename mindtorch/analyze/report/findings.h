// Findings: what costs time without need, with the evidence and a remedy. Nothing is reported without a measured cost.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/report/phases.h"
#include "mindtorch/analyze/report/work_tables.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

struct Finding {
  std::string_view id;  // "waiting_for_data", ...; stable, for programs
  std::string title;
  std::int64_t cost_ns = 0;  // per step, measured
  double share = 0;          // of the time of a step
  std::vector<std::string> evidence;
  std::string remedy;
  std::vector<std::string> ops;    // rows of the tables that show it
  std::vector<std::string> lines;  // of the user's code; needs stacks
  friend bool operator==(const Finding&, const Finding&) = default;
};

// Largest cost first. A program without these problems has none.
MINDTORCH_EXPORT std::vector<Finding> find_findings(const Analysis& analysis, const Phases& phases, const WorkTables& tables);

// True for the name of a kernel that multiplies float32 matrices without tensor cores.
MINDTORCH_EXPORT bool is_plain_float32_matmul(std::string_view kernel);

// The middle value; 0 of no values.
MINDTORCH_EXPORT std::int64_t median_of(std::vector<std::int64_t> values);

}  // namespace mindtorch::analyze

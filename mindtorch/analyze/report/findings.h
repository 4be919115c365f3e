// Findings: what costs time without need, with the evidence and a remedy. Nothing is reported without a measured cost, and no moment is
// charged to two findings.
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

class Ledger;

struct Finding {
  std::string_view id;  // "waiting_for_data", ...; stable, for programs
  std::string title;
  std::int64_t cost_ns = 0;  // per step, measured; 0 of a finding about memory
  double share = 0;          // of the time of a step
  std::vector<std::string> evidence;
  std::string remedy;
  std::vector<std::string> ops;     // rows of the tables that show it
  std::vector<std::string> lines;   // of the user's code, most time first; needs stacks, samples or recorded calls
  std::int64_t bytes_per_step = 0;  // of a finding about memory
  friend bool operator==(const Finding&, const Finding&) = default;
};

// Largest cost first. A program without these problems has none. The costs are taken from the ledger.
std::vector<Finding> find_findings(const Analysis& analysis, const Phases& phases, const WorkTables& tables, Ledger& ledger);
MINDTORCH_EXPORT std::vector<Finding> find_findings(const Analysis& analysis, const Phases& phases, const WorkTables& tables);

// The ids of all rules, in the order in which they claim time.
MINDTORCH_EXPORT std::vector<std::string_view> rule_ids();

// True for the name of a kernel that multiplies float32 matrices without tensor cores.
MINDTORCH_EXPORT bool is_plain_float32_matmul(std::string_view kernel);

}  // namespace mindtorch::analyze

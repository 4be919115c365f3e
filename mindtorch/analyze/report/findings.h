// Findings: what costs time without need, with the evidence and a remedy. Nothing is reported without a measured cost, and no moment is
// charged to two findings.
#pragma once

#include <cstdint>
#include <optional>
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
  // What a step would take with the remedy; none without a cost, or if the recording cannot tell (StepPrediction::problem).
  std::optional<std::int64_t> predicted_step_ns;
  bool predicts_at_best = false;  // the prediction is the most that the remedy can bring
  friend bool operator==(const Finding&, const Finding&) = default;
};

// What findings predict is compared with.
struct StepPrediction {
  std::int64_t step_ns = 0;               // as recorded; 0 if nothing was predicted
  std::int64_t replayed_ns = 0;           // of the unchanged replay
  std::int64_t base_ns = 0;               // of the replay without the profiler's own cost: predictions compare with it
  std::string problem;                    // why the steps cannot be predicted; empty if they can, or without findings
  std::vector<std::int64_t> combined_ns;  // with the remedies of the first finding, of the first two, and so on, as far as they predict

  // True if a prediction is no less than what a step takes anyway, but for what cannot be told apart.
  bool is_without_gain(std::int64_t predicted_ns) const { return 100 * (base_ns - predicted_ns) < base_ns; }
};

// Largest cost first, or largest gain where gains are predicted. A program without these problems has none. The costs are taken from the
// ledger. Steps are predicted if `prediction` is given.
std::vector<Finding> find_findings(const Analysis& analysis, const Phases& phases, const WorkTables& tables, Ledger& ledger,
                                   StepPrediction* prediction = nullptr);
MINDTORCH_EXPORT std::vector<Finding> find_findings(const Analysis& analysis, const Phases& phases, const WorkTables& tables);

// The ids of all rules, in the order in which they claim time.
MINDTORCH_EXPORT std::vector<std::string_view> rule_ids();

// True for the name of a kernel that multiplies float32 matrices without tensor cores.
MINDTORCH_EXPORT bool is_plain_float32_matmul(std::string_view kernel);

}  // namespace mindtorch::analyze

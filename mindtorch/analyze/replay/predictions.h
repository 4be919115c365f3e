// Predictions: what a step would take if the remedy of a finding, or of several, was followed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mindtorch/analyze/report/findings.h"
#include "mindtorch/analyze/report/ledger.h"

namespace mindtorch::analyze {

// How a remedy changes the time that a finding claims.
struct Remedy {
  enum class Effect : std::uint8_t {
    kNone,         // a finding about memory
    kRemove,       // the time is gone
    kScale,        // it takes `factor` of its time
    kBeside,       // it passes on other threads or processes, in `factor` of its time
    kWithoutWait,  // the host does not wait for the device, and launches ahead
    kBatch,        // calls of one op become one call: what a call costs at least is paid once per step
    kCopyBeside,   // copies between host and device run beside kernels, and do not block
  };
  Effect effect = Effect::kRemove;
  double factor = 1;
  bool is_at_best = false;  // how much of the time goes depends on the program: the prediction is the most that is possible
};

struct ClaimedTime {
  Claim claim;
  Remedy remedy;
};

// Fills in what each finding predicts, sorts findings by what they gain, and says what the first of them gain together. `claims` are those
// of the findings, in their order. The profiler's own cost is not part of a prediction where it was recorded. Without findings, nothing is
// computed.
StepPrediction predict(const Analysis& analysis, const Phases& phases, const Ledger& ledger, std::vector<Finding>& findings,
                       std::vector<ClaimedTime> claims);

}  // namespace mindtorch::analyze

// Limits: by how much a run may exceed its baseline, and whether it does.
//
// A limit is exceeded only where the interval of the change lies above it as a whole, so noise does not fail a build: two runs of the same
// program exceed a limit of +0 % with a probability of at most one percent. Where the estimate is above the limit but the interval is not,
// or where there are too few steps for an interval, the verdict is that more steps are needed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/diff/shift.h"
#include "mindtorch/analyze/diff/step_profile.h"
#include "mindtorch/analyze/efficiency/efficiency.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

struct Limit {
  std::string metric;  // "step_time", "device_time", "peak_memory", "op:NAME", "calls:NAME"
  double share = 0;    // 0.03 for +3%
  // A share that the run must reach, such as mfu=40%, instead of one by which it may exceed its baseline.
  bool is_least = false;
};

// Reads "step_time=+3%", "op:aten::mm=10%" or "peak_memory=0%". Throws InvalidArgument that says what was expected.
MINDTORCH_EXPORT Limit parse_limit(std::string_view text);

struct MINDTORCH_EXPORT Verdict {
  enum class Outcome { kWithin, kExceeded, kUnclear };

  Limit limit;
  std::string subject;  // the metric; for memory with its device: "peak_memory of CUDA:0"
  Outcome outcome = Outcome::kWithin;
  Shift shift;  // of a least value: it is `before`, and that of the run is `after`; else ns, bytes or calls; peaks are single numbers,
                // whose interval is the number itself
  bool has_steps = true;  // both runs have steps

  // A sentence with the numbers.
  std::string text() const;
};

// Reads "mfu=40%" or "hfu=40%". Throws InvalidArgument that says what was expected.
MINDTORCH_EXPORT Limit parse_least(std::string_view text);

// One verdict per limit. Throws InvalidArgument, which says why, if the metric of one is not known.
MINDTORCH_EXPORT std::vector<Verdict> check_least(const Efficiency& efficiency, std::span<const Limit> limits);

// One verdict per limit; for peak_memory one per device. Throws InvalidArgument for a metric that neither run has.
MINDTORCH_EXPORT std::vector<Verdict> check_limits(const StepProfile& baseline, const StepProfile& run, std::span<const Limit> limits);

}  // namespace mindtorch::analyze

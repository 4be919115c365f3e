// Step parts: what each step of a run was made of, on the thread that runs its loop. The parts of a step add up to its duration, so that
// the differences between the parts of two runs add up to the difference between their steps.
#pragma once

#include <string>
#include <vector>

#include "mindtorch/analyze/attribution.h"
#include "mindtorch/analyze/steps.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// Identifies the same part in two runs, between which lines of the program may have moved.
struct PartKey {
  std::string cause;     // cause_name()
  std::string name;      // the op, or the function, or where the time outside of ops was spent
  bool is_work = false;  // `name` is that of an op, or of a call of a device's runtime
  friend auto operator<=>(const PartKey&, const PartKey&) = default;

  // "aten::mm (backward)", "Python: augment in train.py"
  MINDTORCH_EXPORT std::string title() const;
};

struct StepPart {
  PartKey key;
  std::vector<double> time;  // nanoseconds in each step
  std::string line;          // of the user's code, "train.py:12:augment"; empty if it is not known
};

// Sorted by key. Each moment belongs to what the attribution says of the thread of the loop; time of which it says nothing is named by the
// op before it. O(segments).
MINDTORCH_EXPORT std::vector<StepPart> step_parts(const Analysis& analysis, const Attribution& attribution, const std::vector<Step>& steps);

}  // namespace mindtorch::analyze

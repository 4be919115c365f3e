// Steps: how long each step of the loop took.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// The key of the metadata that names a step without an end. steps() leaves this step out.
inline constexpr std::string_view kOpenStepKey = "open_step";

struct Step {
  std::int64_t number = 0;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t events = 0;     // averaged host events that start in it
  std::int64_t device_ns = 0;  // device work launched in it
  friend bool operator==(const Step&, const Step&) = default;
};

// Returns the steps in order of time. They are the step events where there are any, and otherwise the times between the marks; the time
// before the first mark is a step too. Empty if the recording has neither. O(events * log steps).
MINDTORCH_EXPORT std::vector<Step> steps(const Analysis& analysis);

}  // namespace mindtorch::analyze

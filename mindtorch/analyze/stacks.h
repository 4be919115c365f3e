// Collapsed stacks: time by call stack, the input of flame graphs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/key_averages.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// torch's list: self_cpu_time_total, self_cuda_time_total, self_xpu_time_total, self_privateuse1_time_total; the last three mean the
// device. self_npu_time_total and self_device_time_total are accepted too.
MINDTORCH_EXPORT std::span<const std::string_view> supported_stack_metrics();

// True for the names of device time, false for that of host time. Throws InvalidArgument with torch's text "metric should be one of: [...]"
// for any other metric.
MINDTORCH_EXPORT bool is_device_metric(std::string_view metric);

struct CollapsedStack {
  std::vector<std::string> frames;  // outermost first, each without the characters that separate frames and weights
  std::int64_t weight_ns = 0;       // above 0
};

// The metric of all events with a stack, added up by stack (EventStacks::of()), in the order of first occurrence. Throws like
// is_device_metric().
MINDTORCH_EXPORT std::vector<CollapsedStack> collapsed_stacks(const Analysis& analysis, std::string_view metric);
// One stack for each row that has one. Throws like is_device_metric().
MINDTORCH_EXPORT std::vector<CollapsedStack> collapsed_stacks(const KeyAverages& averages, std::string_view metric);

// `frame` without the characters that separate frames, weights and lines, each replaced by "_" as torch does; other characters follow
// without_controls().
MINDTORCH_EXPORT std::string plain_frame(std::string_view frame);
// Microseconds rounded up, so that a fast call does not vanish.
MINDTORCH_EXPORT std::int64_t stack_weight(std::int64_t ns);
// One line "outermost;...;innermost 12\n" for each stack.
MINDTORCH_EXPORT std::string collapsed_text(std::span<const CollapsedStack> stacks);

}  // namespace mindtorch::analyze

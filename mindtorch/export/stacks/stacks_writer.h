// Stacks as files: collapsed text for flame graph tools, and a flame graph that any browser shows.
#pragma once

#include <string>
#include <string_view>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

inline constexpr std::string_view kDefaultMetric = "self_cpu_time_total";

// "outermost;...;innermost 12" lines of call_paths(). Throws IoError, or InvalidArgument for a metric
// that analyze::supported_stack_metrics() does not list.
MINDTORCH_EXPORT void write_collapsed_stacks(const analyze::Analysis& analysis, const std::string& path,
                                             std::string_view metric = kDefaultMetric);

// torch's export_stacks(): the recorded stacks of analyze::collapsed_stacks(), in the same format. Throws the same.
MINDTORCH_EXPORT void write_recorded_stacks(const analyze::Analysis& analysis, const std::string& path, std::string_view metric);

// The stacks of write_collapsed_stacks() as a picture: self-contained, a click zooms in.
MINDTORCH_EXPORT void write_flame_graph(const analyze::Analysis& analysis, const std::string& path,
                                        std::string_view metric = kDefaultMetric);

}  // namespace mindtorch::exporter

// Time by call path: the tree behind flame graphs and collapsed stacks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/stacks.h"

namespace mindtorch::exporter {

// The collapsed stacks of a recording: the recorded call stacks if there are any, else the nesting of its events on each thread, which is a
// call stack too. Weights are the metric, one of analyze::supported_stack_metrics().
std::vector<analyze::CollapsedStack> flame_stacks(const analyze::Analysis& analysis, std::string_view metric);

struct FlameNode {
  std::string name;
  std::int64_t weight_ns = 0;  // with everything below
  std::uint32_t depth = 0;     // 0: the root
  std::int64_t start_ns = 0;   // where it lies if siblings are laid side by side
};

// Root first, parents before children, children by name.
std::vector<FlameNode> flame_tree(const std::vector<analyze::CollapsedStack>& stacks);

}  // namespace mindtorch::exporter

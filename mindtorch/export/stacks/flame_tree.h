// Where each call path lies in a flame graph.
#pragma once

#include <cstdint>
#include <vector>

#include "mindtorch/export/stacks/call_paths.h"

namespace mindtorch::exporter {

struct FlameNode {
  CallPaths::Frame frame = 0;
  std::int64_t weight_ns = 0;  // with everything below
  std::uint32_t depth = 0;     // 0: the root
  std::int64_t start_ns = 0;   // where it lies if siblings are laid side by side
};

// Root first, parents before children, children by name; without the paths that took no time. O(paths x log(children of a path)).
std::vector<FlameNode> flame_tree(const CallPaths& paths);

}  // namespace mindtorch::exporter

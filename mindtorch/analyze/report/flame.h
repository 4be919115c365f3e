// Flame: calls merged by their path, with the time and memory of each path. The page draws it as a flame graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

struct FlameNode {
  std::string name;
  std::uint32_t parent = 0;  // node 0 is the root and its own parent; parents come before their children
  std::int64_t calls = 0;
  std::int64_t self_ns = 0;
  std::int64_t self_device_ns = 0;
  std::int64_t allocated = 0;  // bytes, frees not subtracted
  friend bool operator==(const FlameNode&, const FlameNode&) = default;
};

// By modules, scopes and ops of all threads. Steps are left out, so that they lie on top of each other. Paths with a share below that of
// the `most_nodes` largest are added to the path around them. O(events).
MINDTORCH_EXPORT std::vector<FlameNode> op_flame(const Analysis& analysis, std::size_t most_nodes = 4000);

// By the Python functions that ops ran in, outermost first, with the op as the last one (stack_leaves()). Without stacks, by the calls of
// Python functions around ops, as torch records them; without both, by the stacks that a sampler saw. Empty without all of these.
MINDTORCH_EXPORT std::vector<FlameNode> stack_flame(const Analysis& analysis, std::size_t most_nodes = 4000);

}  // namespace mindtorch::analyze

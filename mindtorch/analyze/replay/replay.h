// Replay: how long the steps of a graph take if something about them is changed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/analyze/replay/step_graph.h"

namespace mindtorch::analyze {

struct Change {
  std::vector<double> factors;          // by TimeClass: 0 removes its time, 1 leaves it; classes beyond the end stay as they are
  std::vector<bool> is_beside;          // by TimeClass: this time passes beside the steps, on its own
  std::array<bool, kBesides> beside{};  // everything of this kind passes beside the steps
};

// Mean duration of a step. A step takes at least as long as what runs beside it. O(nodes).
std::int64_t replay(const StepGraph& graph, const Change& change);

// Why the graph does not foretell changes; empty if it does. The unchanged replay must give the recorded steps.
std::string replay_problem(const StepGraph& graph);

// The most by which an unchanged replay may differ from the recorded steps.
inline constexpr double kReplayTolerance = 0.03;

}  // namespace mindtorch::analyze

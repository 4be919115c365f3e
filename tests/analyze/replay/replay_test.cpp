// Replay: unchanged it gives the recorded steps, whatever was recorded, and a smaller change never predicts a longer step.
#include "mindtorch/analyze/replay/replay.h"

#include <gtest/gtest.h>

#include <random>

#include "mindtorch/analyze/replay/step_graph.h"
#include "mindtorch/ingest/load_trace.h"
#include "tests/analyze/recordings.h"
#include "tests/analyze/replay/simulated_training.h"

namespace mindtorch::analyze {
namespace {

// A graph whose classes of time are names of events, and what it is made from.
class Replayed {
 public:
  explicit Replayed(const trace::Recording& recording)
      : analysis_(recording),
        phases_(analysis_),
        ledger_(analysis_, phases_),
        graph_(analysis_, phases_, ledger_,
               {.of_host =
                    [&](const HostTime& time) { return time.segment.event == kNoEvent ? 0 : recording.events.name[time.segment.event]; },
                .of_device = [&](const DeviceTime& time) { return recording.events.name[time.work]; }}) {}
  const StepGraph& graph() const { return graph_; }
  std::int64_t step_ns(const Change& change = {}) const { return replay(graph_, change); }

 private:
  Analysis analysis_;
  Phases phases_;
  Ledger ledger_;
  StepGraph graph_;
};

SimulatedProgram random_program(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint32_t>(n)); };
  return {.seed = seed,
          .steps = 2 + below(10),
          .ops = 1 + below(60),
          .op_ns = 500 + below(40'000),
          .kernel_ns = 500 + below(80'000),
          .has_backward_thread = below(2) == 0,
          .synchronises = below(3) != 0,
          .reads_values = below(2) == 0,
          .batch_ns = below(3) == 0 ? 1 + below(4'000'000) : 0};
}

TEST(Replay, UnchangedStepsAreTheRecordedOnes) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    const Replayed replayed(simulate(random_program(seed)).recording);
    EXPECT_EQ(replay_problem(replayed.graph()), "") << "seed " << seed;
    EXPECT_EQ(replayed.step_ns(), replayed.graph().step_ns()) << "seed " << seed;
  }
}

TEST(Replay, FactorsOfOneChangeNothing) {
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    const trace::Recording recording = simulate(random_program(seed)).recording;
    const Replayed replayed(recording);
    EXPECT_EQ(replayed.step_ns({.factors = std::vector<double>(recording.names.size(), 1.0)}), replayed.step_ns());
  }
}

TEST(Replay, LessWorkNeverTakesLonger) {
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    const trace::Recording recording = simulate(random_program(seed)).recording;
    const Replayed replayed(recording);
    std::mt19937 random(seed);
    Change change{.factors = std::vector<double>(recording.names.size(), 1.0)};
    std::int64_t last = replayed.step_ns();
    for (int k = 0; k < 12; ++k) {
      double& factor = change.factors[random() % change.factors.size()];
      factor *= static_cast<double>(random() % 5) / 4;
      const std::int64_t now = replayed.step_ns(change);
      EXPECT_LE(now, last + 1) << "seed " << seed;  // factors are rounded
      last = now;
    }
  }
}

// Recordings without any order: they are replayed, or it is said why not.
TEST(Replay, AnyRecordingIsReplayedOrRefused) {
  int replayed_ones = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    const Replayed replayed(random_recording(seed, 60, 3, 6000, 1000));
    if (!replay_problem(replayed.graph()).empty()) continue;
    ++replayed_ones;
    EXPECT_NEAR(static_cast<double>(replayed.step_ns()), static_cast<double>(replayed.graph().step_ns()),
                kReplayTolerance * static_cast<double>(replayed.graph().step_ns()));
  }
  EXPECT_GT(replayed_ones, 100);
}

TEST(Replay, TracesOfTorchAreReplayed) {
  for (const std::string name : {"torch_2.11_cuda.json.gz", "torch_2.11_cuda_ops.json.gz", "torch_2.11_cpu.json.gz"}) {
    const ingest::LoadedTrace loaded = ingest::load_trace(std::string(MINDTORCH_TEST_DATA) + "/" + name);
    const Replayed replayed(loaded.recording);
    EXPECT_EQ(replay_problem(replayed.graph()), "") << name;
    EXPECT_NEAR(static_cast<double>(replayed.step_ns()), static_cast<double>(replayed.graph().step_ns()),
                kReplayTolerance * static_cast<double>(replayed.graph().step_ns()))
        << name;
  }
}

TEST(Replay, WhatPassesBesideTheStepsBoundsThem) {
  const trace::Recording recording = simulate({.steps = 5, .has_backward_thread = false}).recording;
  const Replayed replayed(recording);
  const auto gemm = static_cast<std::size_t>(std::ranges::find(recording.names, "gemm") - recording.names.begin());
  Change change{.factors = std::vector<double>(recording.names.size(), 1.0), .is_beside = std::vector<bool>(recording.names.size())};
  change.is_beside[gemm] = true;
  change.factors[gemm] = 100;
  std::int64_t kernels = 0;
  const StepGraph& graph = replayed.graph();
  for (const StepGraph::Node& node : graph.nodes())
    kernels += node.time_class == gemm && node.kind == StepGraph::Kind::kDevice ? node.duration_ns : 0;
  EXPECT_EQ(replayed.step_ns(change), 100 * kernels / static_cast<std::int64_t>(graph.steps()));
}

}  // namespace
}  // namespace mindtorch::analyze

// Findings: each rule fires on a program with the problem, and a healthy program has none.
#include "mindtorch/analyze/report/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "mindtorch/analyze/report/ledger.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using trace::EventKind;

constexpr std::int64_t kStep = 1'000'000;  // 1 ms

// Ten steps that are busy with ops and kernels from end to end. What is 0 or false is as it should be.
struct Program {
  int steps = 10;
  std::int64_t loading = 10'000;  // in the data loader
  std::int64_t item = 0;          // in aten::item
  std::int64_t optimizer = 30'000;
  int optimizer_ops = 4;
  std::string optimizer_op = "aten::_fused_adamw_";
  std::string matmul = "sm90_xmma_gemm_bf16bf16_bf16f32_f32";
  std::int64_t kernel = 400'000;  // two of them per step
  int kernels = 2;
  std::int64_t malloc = 0;  // in cudaMalloc
  int slow_step = -1;
  std::int64_t gap = 0;  // between steps
  std::int64_t forward = 800'000;
  bool with_device = true;
  bool with_stacks = false;
};

class Training {
 public:
  explicit Training(const Program& program) : program_(program) {
    std::int64_t now = 0;
    for (int step = 0; step < program.steps; ++step) {
      const std::int64_t length = step == program.slow_step ? 20 * kStep : kStep;
      add_step(step, now, length);
      now += length + program.gap;
    }
  }
  trace::Recording finish() { return maker_.finish(); }

 private:
  void place(Maker::Id event, int line) {
    if (program_.with_stacks) maker_.stack(event, {{"train.py", line, "main"}});
  }

  void add_step(int number, std::int64_t start, std::int64_t length) {
    maker_.step(number, start, length);
    std::int64_t at = start + 1000;
    const auto add = [&](auto id, std::int64_t duration, int line) {
      place(id, line);
      at += duration + 1000;
    };
    if (program_.loading > 0)
      add(maker_.scope("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, program_.loading), program_.loading, 10);
    const std::int64_t forward = std::min(program_.forward, length - program_.loading - program_.item - program_.optimizer - 50'000);
    place(maker_.op("aten::linear", at, forward), 11);
    if (program_.with_device) {
      for (int k = 0; k < program_.kernels; ++k) {
        ++correlation_;
        maker_.launch(at + 10 + 20 * k, 5, correlation_);
        maker_.kernel(program_.matmul, at + 1000 + k * (program_.kernel + 100), program_.kernel, correlation_);
      }
    }
    at += forward + 1000;
    if (program_.malloc > 0) add(maker_.op("cudaMalloc", at, program_.malloc, EventKind::kRuntime), program_.malloc, 14);
    if (program_.item > 0) add(maker_.op("aten::_local_scalar_dense", at, program_.item), program_.item, 12);
    const std::int64_t optimizer = at;
    place(maker_.scope("Optimizer.step#AdamW.step", optimizer, program_.optimizer), 13);
    for (int k = 0; k < program_.optimizer_ops; ++k)
      maker_.op(program_.optimizer_op, optimizer + 10 + k * (program_.optimizer - 20) / program_.optimizer_ops, 5);
  }

  Program program_;
  Maker maker_;
  std::uint64_t correlation_ = 0;
};

std::vector<Finding> findings_of(const Program& program) {
  const trace::Recording recording = Training(program).finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  return find_findings(analysis, phases, work_tables(analysis, phases));
}

std::vector<std::string_view> ids_of(const Program& program) {
  std::vector<std::string_view> ids;
  for (const Finding& finding : findings_of(program)) ids.push_back(finding.id);
  return ids;
}

TEST(Findings, AHealthyProgramHasNone) {
  EXPECT_THAT(ids_of({}), IsEmpty());
  EXPECT_THAT(ids_of({.with_device = false}), IsEmpty());
  EXPECT_THAT(ids_of({.steps = 1}), IsEmpty());
  EXPECT_THAT(ids_of({.steps = 0}), IsEmpty());
}

// A slow loader, .item() in each step, an optimizer that is not fused, and products in float32.
TEST(Findings, ADeliberatelyBadLoopGetsFourFindingsWithTheirLines) {
  const std::vector<Finding> found = findings_of({.loading = 200'000,
                                                  .item = 150'000,
                                                  .optimizer = 100'000,
                                                  .optimizer_ops = 200,
                                                  .optimizer_op = "aten::addcmul_",
                                                  .matmul = "ampere_sgemm_128x64_tn",
                                                  .kernel = 200'000,
                                                  .with_stacks = true});
  std::map<std::string_view, std::vector<std::string>> lines;
  for (const Finding& finding : found) lines[finding.id] = finding.lines;
  EXPECT_THAT(
      lines,
      ElementsAre(Pair("float32_matmuls", ElementsAre("train.py:11:main")), Pair("synchronising_calls", ElementsAre("train.py:12:main")),
                  Pair("unfused_optimizer", ElementsAre("train.py:13:main")), Pair("waiting_for_data", ElementsAre("train.py:10:main"))));
}

TEST(Findings, WaitingForDataIsFoundWithItsCostAndLine) {
  const std::vector<Finding> found = findings_of({.loading = 300'000, .with_stacks = true});
  ASSERT_THAT(found, ElementsAre(Field(&Finding::id, "waiting_for_data")));
  EXPECT_EQ(found[0].cost_ns, 197'900) << "the kernels of the step before still run for 102 us";
  EXPECT_NEAR(found[0].share, 0.1979, 1e-9);
  EXPECT_THAT(found[0].lines, ElementsAre("train.py:10:main"));
  EXPECT_THAT(found[0].evidence[0], HasSubstr("197.900us"));
}

TEST(Findings, SynchronisingCallsAreFoundOnlyWhereThereIsADeviceToWaitFor) {
  const std::vector<Finding> found = findings_of({.item = 200'000, .with_stacks = true});
  ASSERT_THAT(found, ElementsAre(Field(&Finding::id, "synchronising_calls")));
  EXPECT_GT(found[0].cost_ns, 50'000);
  EXPECT_LE(found[0].cost_ns, 200'000) << "while the device is busy, waiting for it costs nothing";
  EXPECT_THAT(found[0].lines, ElementsAre("train.py:12:main"));
  EXPECT_THAT(found[0].ops, Contains("aten::_local_scalar_dense"));
  EXPECT_THAT(ids_of({.item = 200'000, .with_device = false}), IsEmpty());
}

TEST(Findings, AnOptimizerOfManyOpsIsFoundAndAFusedOneIsNot) {
  EXPECT_THAT(ids_of({.optimizer = 200'000, .optimizer_ops = 100, .optimizer_op = "aten::add_"}), ElementsAre("unfused_optimizer"));
  EXPECT_THAT(ids_of({.optimizer = 200'000, .optimizer_ops = 100}), IsEmpty()) << "fused";
  EXPECT_THAT(ids_of({.optimizer = 200'000, .optimizer_ops = 4, .optimizer_op = "aten::add_"}), IsEmpty()) << "few ops";
  EXPECT_THAT(ids_of({.optimizer = 30'000, .optimizer_ops = 100, .optimizer_op = "aten::add_"}), IsEmpty()) << "cheap";
}

TEST(Findings, MatricesInFloat32AreFoundByTheirKernels) {
  EXPECT_THAT(ids_of({.matmul = "ampere_sgemm_128x64_tn"}), ElementsAre("float32_matmuls"));
  EXPECT_THAT(ids_of({.matmul = "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n"}), IsEmpty());
}

TEST(Findings, KernelsThatAreTooSmallAreFoundIfTheDeviceIdles) {
  const Program small = {.kernel = 2'000, .kernels = 100};
  ASSERT_THAT(ids_of(small), ElementsAre("tiny_kernels"));
  EXPECT_GE(findings_of(small)[0].share, 0.3);
  EXPECT_THAT(ids_of({.kernel = 7'900, .kernels = 100}), IsEmpty()) << "the device is busy";
}

TEST(Findings, AllocationsOfTheDriverAreFound) {
  EXPECT_THAT(ids_of({.malloc = 100'000}), ElementsAre("device_allocations"));
  EXPECT_THAT(ids_of({.malloc = 10'000}), IsEmpty());
}

TEST(Findings, OneSlowStepIsFoundButNotTheFirst) {
  const std::vector<Finding> found = findings_of({.slow_step = 5});
  ASSERT_THAT(found, Contains(Field(&Finding::id, "uneven_steps")));
  EXPECT_THAT(found[0].evidence, Contains(HasSubstr("step 5 took 20.000ms")));
  EXPECT_THAT(ids_of({.slow_step = 0}), IsEmpty());
}

TEST(Findings, TimeBetweenStepsIsFound) {
  EXPECT_THAT(ids_of({.gap = 200'000}), ElementsAre("time_between_steps"));
  EXPECT_THAT(ids_of({.gap = 2'000}), IsEmpty());
}

TEST(Findings, TimeOutsideOfOpsIsFoundIfTheDeviceIdlesToo) {
  EXPECT_THAT(ids_of({.kernel = 100'000, .forward = 200'000}), ElementsAre("python_between_ops"));
  EXPECT_THAT(ids_of({.forward = 200'000}), IsEmpty()) << "the device is busy, so nothing is lost";
}

TEST(Findings, TheMostExpensiveOneComesFirst) {
  EXPECT_THAT(ids_of({.loading = 300'000, .item = 100'000, .kernel = 100'000}), ElementsAre("waiting_for_data", "synchronising_calls"));
  EXPECT_THAT(ids_of({.loading = 100'000, .item = 300'000, .kernel = 100'000}), ElementsAre("synchronising_calls", "waiting_for_data"));
}

TEST(Findings, EveryFindingHasEvidenceARemedyAndACost) {
  const Program bad = {.loading = 100'000,
                       .item = 100'000,
                       .optimizer = 150'000,
                       .optimizer_ops = 100,
                       .optimizer_op = "aten::add_",
                       .matmul = "ampere_sgemm_128x64_tn",
                       .kernel = 100'000,
                       .malloc = 100'000,
                       .gap = 100'000,
                       .forward = 400'000};
  const std::vector<Finding> found = findings_of(bad);
  EXPECT_GE(found.size(), 6U);
  for (const Finding& finding : found) {
    EXPECT_THAT(finding.evidence, Not(IsEmpty())) << finding.id;
    EXPECT_FALSE(finding.remedy.empty()) << finding.id;
    EXPECT_GT(finding.cost_ns, 0) << finding.id;
  }
}

TEST(Findings, KernelsOfOtherTypesAndOtherWorkAreNoFloat32Matmuls) {
  EXPECT_TRUE(is_plain_float32_matmul("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8"));
  EXPECT_TRUE(is_plain_float32_matmul("cutlass_80_simt_sgemm_128x64_8x5_tn_align1"));
  for (const char* other : {"ampere_fp16_s16816gemm_fp16_128x64", "cutlass_80_tensorop_s1688gemm_128x128", "vectorized_elementwise_kernel",
                            "ampere_bf16_s16816gemm_bf16", "sm80_xmma_gemm_f32f32_tf32f32_f32"})
    EXPECT_FALSE(is_plain_float32_matmul(other)) << other;
}

using Ids = std::vector<std::string_view>;

Ids ids_in(Maker& maker) {
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  Ids ids;
  for (const Finding& finding : find_findings(analysis, phases, work_tables(analysis, phases))) ids.push_back(finding.id);
  return ids;
}

TEST(Findings, AnIdleDeviceIsFoundUnlessAnotherFindingExplainsIt) {
  EXPECT_THAT(ids_of({.kernel = 50'000}), ElementsAre("idle_device"));
  EXPECT_THAT(ids_of({.kernel = 300'000}), IsEmpty()) << "less than half of a step is idle";
  EXPECT_THAT(ids_of({.loading = 500'000, .kernel = 50'000}), ElementsAre("waiting_for_data"));
  EXPECT_THAT(ids_of({.with_device = false}), IsEmpty());
}

TEST(Findings, CopiesOfPageableMemoryAreFoundAndThoseOfPinnedMemoryAreNot) {
  for (const bool is_pageable : {true, false}) {
    Maker maker;
    for (int step = 0; step < 10; ++step) {
      const std::int64_t start = step * kStep;
      maker.step(step, start, kStep);
      const auto correlation = static_cast<std::uint64_t>(2 * step + 1);
      maker.op("cudaMemcpyAsync", start + 1000, is_pageable ? 200'000 : 5'000, EventKind::kRuntime, correlation);
      maker.kernel(is_pageable ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy HtoD (Pinned -> Device)", start + 2000, 190'000, correlation,
                   EventKind::kMemcpy);
      maker.op("aten::linear", start + 210'000, 780'000);
      maker.launch(start + 211'000, 10, correlation + 1);
      maker.kernel("gemm_bf16", start + 212'000, 700'000, correlation + 1);
    }
    EXPECT_EQ(ids_in(maker), is_pageable ? Ids{"pageable_copies"} : Ids{});
  }
}

TEST(Findings, FillingGradientsWithZerosIsFoundAndDroppingThemIsNot) {
  for (const bool fills : {true, false}) {
    Maker maker;
    for (int step = 0; step < 10; ++step) {
      const std::int64_t start = step * kStep;
      maker.step(step, start, kStep);
      maker.scope("Optimizer.zero_grad#SGD.zero_grad", start + 1000, 120'000);
      if (fills) maker.op("aten::_foreach_zero_", start + 2000, 100'000);
      maker.op("aten::linear", start + 130'000, 860'000);
    }
    EXPECT_EQ(ids_in(maker), fills ? Ids{"zeroed_gradients"} : Ids{});
  }
}

// Backward adds to gradients that were filled with zeros; with two passes per step, one of the two additions is needed.
TEST(Findings, AddingToZerosCountsAsOftenAsItIsNotNeeded) {
  for (const int passes : {1, 2}) {
    Maker maker;
    for (int step = 0; step < 10; ++step) {
      const std::int64_t start = step * kStep;
      maker.step(step, start, kStep);
      maker.scope("Optimizer.zero_grad#SGD.zero_grad", start + 1000, 50'000);
      maker.op("aten::_foreach_zero_", start + 2000, 40'000);
      maker.op("aten::linear", start + 60'000, 500'000);
      for (int pass = 0; pass < passes; ++pass) {
        const std::int64_t at = start + 600'000 + 180'000 * pass;
        maker.op("AddmmBackward0", at, 10'000, EventKind::kBackward, trace::make_sequence_link(10 * step + pass));
        maker.op("torch::autograd::AccumulateGrad", at + 20'000, 150'000, EventKind::kBackward);
        maker.op("aten::add_", at + 21'000, 100'000);
      }
    }
    const trace::Recording recording = maker.finish();
    const Analysis analysis(recording);
    const Phases phases(analysis);
    const std::vector<Finding> found = find_findings(analysis, phases, work_tables(analysis, phases));
    ASSERT_THAT(found, ElementsAre(Field(&Finding::id, "zeroed_gradients"))) << passes;
    EXPECT_NEAR(static_cast<double>(found[0].cost_ns), 140'000, 2'000) << passes;
  }
}

// A loop with two workers, of which each needs `batch` for one; the loop waits in each step.
trace::Recording with_workers(std::int64_t batch, std::int64_t wait, int epochs, bool is_busy) {
  Maker maker;
  trace::RecordingBuilder& builder = maker.builder();
  if (is_busy) builder.recording().metadata = {{"processors_own", "0.2"}, {"processors_others", "0.8"}};
  constexpr int kSteps = 16;
  std::vector<trace::TrackId> workers;
  for (int step = 0; step < kSteps; ++step) {
    const std::int64_t start = step * kStep;
    if (step % (kSteps / epochs) == 0) {
      workers.clear();
      for (int k = 0; k < 2; ++k) {
        workers.push_back(builder.add_thread(300 + 2 * step + k, "DataLoader worker " + std::to_string(k), 9));
      }
    }
    maker.step(step, start, kStep);
    maker.scope("DataLoader.wait", start, wait);
    maker.op("aten::linear", start + wait, kStep - wait - 1000);
    builder.add_event({.name = "DataLoader.fetch",
                       .kind = EventKind::kScope,
                       .track = workers[static_cast<std::size_t>(step % 2)],
                       .start_ns = start + wait - std::min(wait, batch) - 10,
                       .duration_ns = batch});
  }
  return maker.finish();
}

std::vector<Finding> findings_in(const trace::Recording& recording) {
  const Analysis analysis(recording);
  const Phases phases(analysis);
  return find_findings(analysis, phases, work_tables(analysis, phases));
}

TEST(Findings, WorkersThatCannotKeepUpAreToldWithTheirNumber) {
  const std::vector<Finding> found = findings_in(with_workers(1'900'000, 300'000, 1, true));
  ASSERT_THAT(found, ElementsAre(Field(&Finding::id, "waiting_for_data")));
  EXPECT_THAT(found[0].remedy, HasSubstr("use 3 workers")) << "1.9 ms for a batch, and 0.7 ms until the loop wants the next one";
}

TEST(Findings, WorkersThatKeepUpAreLateOnABusyMachineAlone) {
  EXPECT_THAT(findings_in(with_workers(200'000, 300'000, 1, true)), IsEmpty());
  EXPECT_THAT(findings_in(with_workers(200'000, 300'000, 1, false)), ElementsAre(Field(&Finding::id, "waiting_for_data")))
      << "on a machine of its own, something else is slow";
}

TEST(Findings, WorkersThatAreStartedAgainInEachEpochAreTold) {
  const std::vector<Finding> found = findings_in(with_workers(200'000, 300'000, 8, true));
  ASSERT_THAT(found, Not(IsEmpty()));
  EXPECT_THAT(found[0].title, HasSubstr("started again"));
  EXPECT_THAT(found[0].remedy, HasSubstr("persistent_workers=True"));
}

// Thirty steps, of which each walks a list that has grown.
TEST(Findings, StepsThatTakeLongerAndLongerAreFound) {
  for (const bool grows : {true, false}) {
    Maker maker;
    std::int64_t start = 0;
    for (int step = 0; step < 41; ++step) {
      const std::int64_t length = grows ? kStep + step * 50'000 : kStep;
      maker.step(step, start, length);
      maker.op("aten::linear", start, length - 1000);
      start += length;
    }
    const trace::Recording recording = maker.finish();
    const std::vector<Finding> found = findings_in(recording);
    EXPECT_EQ(found.size(), grows ? 1U : 0U);
    EXPECT_THAT(found, testing::Each(Field(&Finding::id, "slowing_steps")));
  }
}

// Ten steps of which samples see three tenths outside of ops, in one state and at one place.
std::vector<Finding> findings_of_samples(trace::ThreadState state, const std::vector<Maker::Place>& innermost_first) {
  Maker maker;
  trace::RecordingBuilder& builder = maker.builder();
  builder.recording().options.sampling_interval_ns = 1000;
  std::vector<trace::Frame> frames, loop = {{builder.intern("train.py"), builder.intern("main"), 5}};
  for (const Maker::Place& place : innermost_first)
    frames.push_back({builder.intern(place.file), builder.intern(place.function), place.line});
  for (int step = 0; step < 10; ++step) {
    const std::int64_t start = step * kStep;
    maker.step(step, start, kStep);
    maker.op("aten::linear", start, 690'000);
    builder.add_sample(start, 690'000, maker.thread(), loop, trace::ThreadState::kRunning);
    builder.add_sample(start + 695'000, 300'000, maker.thread(), frames, state);
  }
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  return find_findings(analysis, phases, work_tables(analysis, phases));
}

TEST(Findings, WhatOtherProgramsTakeIsLeftOut) {
  Maker maker;
  trace::RecordingBuilder& builder = maker.builder();
  builder.recording().options.sampling_interval_ns = 1000;
  builder.recording().metadata = {{"processors_own", "0.2"}, {"processors_others", "0.8"}};
  const std::vector<trace::Frame> frames = {{builder.intern("train.py"), builder.intern("slow"), 5}};
  for (int step = 0; step < 10; ++step) {
    const std::int64_t start = step * kStep;
    maker.step(step, start, kStep);
    maker.op("aten::linear", start, 300'000);
    builder.add_sample(start + 301'000, 400'000, maker.thread(), frames, trace::ThreadState::kNotScheduled);
    builder.add_sample(start + 701'000, 298'000, maker.thread(), frames, trace::ThreadState::kRunning);
  }
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  const Ledger ledger(analysis, phases);
  EXPECT_NEAR(static_cast<double>(ledger.left_out_ns()) / static_cast<double>(ledger.steps()), 400'000, 2'000);
  EXPECT_EQ(ledger.mean_ns(), kStep) << "what is left out is part of a step";
  const std::vector<Finding> found = findings_in(recording);
  ASSERT_THAT(found, ElementsAre(Field(&Finding::id, "slow_python")));
  EXPECT_NEAR(found[0].share, 0.5, 0.01) << "of the 0.6 ms in which the program had a processor";
}

TEST(Findings, WhatSamplesSeeIsFoundWithItsLine) {
  using trace::ThreadState;
  const std::vector<Maker::Place> own = {{"train.py", 12, "slow"}, {"train.py", 5, "main"}};
  const std::vector<Maker::Place> queue = {{"/usr/lib/python3.12/queue.py", 170, "get"}, {"train.py", 12, "slow"}};
  const std::vector<Maker::Place> save = {{"/v/lib/python3.12/site-packages/torch/serialization.py", 800, "save"},
                                          {"train.py", 12, "slow"}};
  const std::vector<Maker::Place> compile = {{"torch/_dynamo/convert_frame.py", 80, "compile"}, {"train.py", 12, "slow"}};
  struct Case {
    ThreadState state;
    std::vector<Maker::Place> stack;
    std::string_view id;
  };
  const std::vector<Case> cases = {{ThreadState::kRunning, own, "slow_python"},
                                   {ThreadState::kSleeps, own, "sleeping"},
                                   {ThreadState::kCollectsGarbage, own, "garbage_collection"},
                                   {ThreadState::kWaitsForGil, own, "waiting_for_gil"},
                                   {ThreadState::kWaitsForLock, own, "waiting_for_lock"},
                                   {ThreadState::kWaitsForIo, own, "files_and_network"},
                                   {ThreadState::kNotScheduled, own, "not_running"},
                                   {ThreadState::kWaitsForLock, queue, "waiting_for_thread"},
                                   {ThreadState::kWaitsForIo, save, "checkpoints"},
                                   {ThreadState::kRunning, compile, "compiling_in_steps"}};
  for (const Case& one : cases) {
    const std::vector<Finding> found = findings_of_samples(one.state, one.stack);
    ASSERT_THAT(found, ElementsAre(Field(&Finding::id, one.id))) << one.id;
    EXPECT_NEAR(found[0].share, 0.31, 0.011) << one.id;
    EXPECT_THAT(found[0].lines, ElementsAre("train.py:12:slow")) << one.id;
  }
}

TEST(Findings, FunctionsOfLibrariesAreNamedOnlyIfMostOfTheTimePassesInThem) {
  for (const std::int64_t in_library : {50'000, 250'000}) {
    Maker maker;
    trace::RecordingBuilder& builder = maker.builder();
    builder.recording().options.sampling_interval_ns = 1000;
    const std::vector<trace::Frame> own = {{builder.intern("train.py"), builder.intern("read"), 12}};
    const std::vector<trace::Frame> library = {{builder.intern("/usr/lib/python3.12/socket.py"), builder.intern("recv"), 7}, own[0]};
    for (int step = 0; step < 10; ++step) {
      const std::int64_t start = step * kStep;
      maker.step(step, start, kStep);
      maker.op("aten::linear", start, 690'000);
      builder.add_sample(start + 695'000, in_library, maker.thread(), library, trace::ThreadState::kWaitsForIo);
      builder.add_sample(start + 695'000 + in_library, 300'000 - in_library, maker.thread(), own, trace::ThreadState::kWaitsForIo);
    }
    const std::vector<Finding> found = findings_in(maker.finish());
    ASSERT_THAT(found, ElementsAre(Field(&Finding::id, "files_and_network")));
    const bool names_it = std::ranges::any_of(found[0].evidence, [](const std::string& text) { return text.starts_with("most of it in"); });
    EXPECT_EQ(names_it, in_library == 250'000);
  }
}

TEST(Findings, CostsAddUpToAStepAtMost) {
  const std::vector<Finding> found = findings_of({.loading = 300'000,
                                                  .item = 150'000,
                                                  .optimizer = 200'000,
                                                  .optimizer_ops = 100,
                                                  .optimizer_op = "aten::add_",
                                                  .matmul = "ampere_sgemm_128x64_tn",
                                                  .kernel = 5'000,
                                                  .kernels = 60,
                                                  .malloc = 100'000,
                                                  .gap = 100'000});
  double share = 0;
  for (const Finding& finding : found) share += finding.share;
  EXPECT_GE(found.size(), 3U);
  EXPECT_LE(share, 1 + 1e-9);
}

TEST(Findings, TensorsInFloat64AreFoundAndThoseInFloat32AreNot) {
  for (const trace::ScalarType type : {trace::ScalarType::kDouble, trace::ScalarType::kFloat}) {
    Maker maker;
    for (int step = 0; step < 5; ++step) {
      maker.step(step, step * kStep, kStep);
      const auto op = maker.op("aten::linear", step * kStep, 900'000);
      maker.builder().set_inputs(
          op, std::vector<trace::Input>{{.kind = trace::Input::Kind::kTensor, .dtype = type, .sizes = {8, 8}, .strides = {8, 1}}});
    }
    EXPECT_EQ(ids_in(maker), type == trace::ScalarType::kDouble ? Ids{"float64_ops"} : Ids{});
  }
}

TEST(Findings, ALoopOverElementsIsFound) {
  for (const int accesses : {400, 20}) {
    Maker maker;
    for (int step = 0; step < 5; ++step) {
      const std::int64_t start = step * kStep;
      maker.step(step, start, kStep);
      maker.op("aten::linear", start, 500'000);
      for (int k = 0; k < accesses; ++k) maker.op("aten::select", start + 510'000 + k * 1000, 900);
    }
    Ids ids = ids_in(maker);
    EXPECT_EQ(std::ranges::find(ids, "element_accesses") != ids.end(), accesses == 400);
  }
}

TEST(Findings, MemoryThatGrowsInEachStepIsFound) {
  for (const bool frees : {false, true}) {
    Maker maker;
    for (int step = 0; step < 12; ++step) {
      const std::int64_t start = step * kStep;
      maker.step(step, start, kStep);
      maker.op("aten::linear", start, 990'000);
      maker.memory(start + 1000, 1 << 20);
      if (frees) maker.memory(start + 2000, -(1 << 20));
    }
    const trace::Recording recording = maker.finish();
    const Analysis analysis(recording);
    const Phases phases(analysis);
    const std::vector<Finding> found = find_findings(analysis, phases, work_tables(analysis, phases));
    ASSERT_EQ(found.size(), frees ? 0U : 1U);
    if (!frees) {
      EXPECT_EQ(found[0].bytes_per_step, 1 << 20);
    }
  }
}

TEST(Findings, ACollectiveThatNothingHidesIsFound) {
  Maker maker;
  for (int step = 0; step < 5; ++step) {
    maker.step(step, step * kStep, kStep);
    maker.op("aten::linear", step * kStep, 500'000);
    maker.scope("gloo:all_reduce", step * kStep + 500'000, 490'000);
  }
  EXPECT_EQ(ids_in(maker), Ids{"exposed_collectives"});
}

TEST(Findings, EachRuleHasOneId) {
  const std::vector<std::string_view> ids = rule_ids();
  EXPECT_GE(ids.size(), 27U);
  EXPECT_THAT(ids, Contains("waiting_for_data"));
}

}  // namespace
}  // namespace mindtorch::analyze

// Guessed categories: one training step with one block for each rule.
#include "mindtorch/analyze/memory_categories.h"

#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;
using trace::MemoryCategory;

class GuessTest : public testing::Test {
 protected:
  GuessTest() {
    const auto creation = maker_.op("aten::randn", 100, 50);
    const trace::Input size{.kind = trace::Input::Kind::kIntList, .sizes = {4}};
    maker_.builder().set_inputs(creation, {&size, 1});
    maker_.shapes(maker_.op("aten::linear", 200, 100, EventKind::kOp, trace::make_sequence_link(1)), {{4}, {4}});
    maker_.op("aten::addmm", 210, 50);
    maker_.op("autograd::engine::evaluate_function: AddmmBackward0", 400, 100);
    maker_.op("AddmmBackward0", 410, 80, EventKind::kBackward, trace::make_sequence_link(1, 1));
    maker_.op("aten::mm", 420, 50);
    maker_.op("torch::autograd::AccumulateGrad", 520, 30, EventKind::kBackward, trace::make_sequence_link(-1, 1));
    maker_.scope("Optimizer.step#SGD.step", 600, 100);
    maker_.op("aten::mul", 610, 20);
    maker_.op("aten::add", 640, 20);
    maker_.op("aten::mul", 800, 20, EventKind::kOp, trace::make_sequence_link(2));
    maker_.op("MulBackward0", 900, 20, EventKind::kBackward, trace::make_sequence_link(2, 1));
  }

  MemoryCategory guess(std::int64_t allocated_ns, std::optional<std::int64_t> freed_ns) {
    maker_.memory(allocated_ns, 64);
    trace::Recording recording = maker_.finish();
    const Analysis analysis(recording);
    return MemoryCategories(analysis).guess(0, freed_ns);
  }

  Maker maker_;
};

TEST_F(GuessTest, WhatTheOpFreesAgainIsTemporary) { EXPECT_EQ(guess(220, 290), MemoryCategory::kTemporary); }
TEST_F(GuessTest, WhatABackwardOpFreesAgainIsTemporary) { EXPECT_EQ(guess(430, 460), MemoryCategory::kTemporary); }
TEST_F(GuessTest, WhatOutlivesItsForwardOpIsAnActivation) { EXPECT_EQ(guess(220, 480), MemoryCategory::kActivation); }
TEST_F(GuessTest, WhatIsNeverFreedInTheForwardPassIsAnActivation) { EXPECT_EQ(guess(220, std::nullopt), MemoryCategory::kActivation); }
TEST_F(GuessTest, WhatComesFromNoTensorIsAnInput) { EXPECT_EQ(guess(120, std::nullopt), MemoryCategory::kInput); }
TEST_F(GuessTest, WhatOutlivesTheBackwardPassIsAGradient) { EXPECT_EQ(guess(430, 615), MemoryCategory::kGradient); }
TEST_F(GuessTest, WhatIsNeverFreedInTheBackwardPassIsAGradient) { EXPECT_EQ(guess(430, std::nullopt), MemoryCategory::kGradient); }
TEST_F(GuessTest, WhatTheBackwardPassFreesIsAutogradsOwn) { EXPECT_EQ(guess(430, 540), MemoryCategory::kAutogradDetail); }
TEST_F(GuessTest, ThePassEndsWhereTheForwardThreadGoesOn) { EXPECT_EQ(guess(430, 910), MemoryCategory::kGradient); }
TEST_F(GuessTest, WhatOutlivesTheOptimizerStepIsItsState) { EXPECT_EQ(guess(620, std::nullopt), MemoryCategory::kOptimizerState); }
TEST_F(GuessTest, WhatTheOptimizerStepFreesIsTemporary) { EXPECT_EQ(guess(620, 650), MemoryCategory::kTemporary); }
TEST_F(GuessTest, WhatIsAllocatedOutsideOfAnyEventIsUnknown) { EXPECT_EQ(guess(350, std::nullopt), MemoryCategory::kUnknown); }

TEST_F(GuessTest, OpsOfOtherThreadsDoNotEndTheBackwardPass) {
  const trace::TrackId loader = maker_.builder().add_thread(300);
  maker_.add({.name = "aten::stack", .track = loader, .start_ns = 505, .duration_ns = 5});
  EXPECT_EQ(guess(430, 540), MemoryCategory::kAutogradDetail);
}

}  // namespace
}  // namespace mindtorch::analyze

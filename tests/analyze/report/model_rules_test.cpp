// Rules about how a model is built and called: each fires on a loop with its fault, and not on the same loop without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mindtorch/analyze/report/findings.h"
#include "mindtorch/analyze/report/rules.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using trace::EventKind;

constexpr std::int64_t kStep = 1'000'000;  // 1 ms

// Ten steps with a forward and a backward pass. What a test adds to a step runs between them, or inside of the backward pass.
class Model {
 public:
  template <class Add>
  Model& with(Add add) {
    for (int step = 0; step < 10; ++step) {
      const std::int64_t start = step * kStep;
      maker.step(step, start, kStep);
      now = start + 1000;
      called("aten::linear", 200'000);
      backward_sequence = sequence;
      add(*this);
      const std::int64_t left = start + kStep - 1000 - now;
      maker.op("AddmmBackward0", now, left, EventKind::kBackward, trace::make_sequence_link(backward_sequence));
      maker.op("aten::mm", now + 10, left - 20);
    }
    return *this;
  }

  // An op that the program calls, which records a node for the backward pass.
  void called(std::string_view name, std::int64_t duration, int line = 7) {
    const auto id = maker.op(name, now, duration, EventKind::kOp, trace::make_sequence_link(++sequence));
    maker.stack(id, {{"model.py", line, "forward"}});
    now += duration + 100;
  }

  // An op that is called while a node is evaluated.
  void in_backward(std::string_view name, std::int64_t duration) {
    maker.op("ReluBackward0", now, duration + 20, EventKind::kBackward, trace::make_sequence_link(backward_sequence));
    maker.op(name, now + 10, duration);
    now += duration + 100;
  }

  std::vector<std::string> named() {
    std::vector<std::string> ids;
    for (const Finding& finding : findings()) ids.emplace_back(finding.id);
    return ids;
  }
  std::vector<Finding> findings() {
    recording_ = maker.finish();
    const Analysis analysis(recording_);
    const Phases phases(analysis);
    return find_findings(analysis, phases, work_tables(analysis, phases));
  }

  Maker maker;
  std::int64_t now = 0, sequence = 0, backward_sequence = 0;

 private:
  trace::Recording recording_;
};

TEST(ModelRules, AModelWithoutFaultsHasNoFindings) {
  EXPECT_THAT(Model().with([](Model&) {}).named(), IsEmpty());
}

TEST(ModelRules, ADenseGradientOfAnEmbeddingIsTold) {
  Model model;
  model.with([](Model& m) { m.in_backward("aten::embedding_dense_backward", 300'000); });
  const std::vector<Finding> found = model.findings();
  ASSERT_THAT(found, testing::SizeIs(1));
  EXPECT_EQ(found[0].id, "dense_embedding_gradients");
  EXPECT_EQ(found[0].cost_ns, 300'000);
  EXPECT_THAT(Model().with([](Model& m) { m.in_backward("aten::embedding_dense_backward", 20'000); }).named(), IsEmpty());
}

TEST(ModelRules, AttentionOnTheMathKernelIsTold) {
  Model model;
  model.with([](Model& m) { m.called("aten::_scaled_dot_product_attention_math", 300'000); });
  EXPECT_THAT(model.named(), Contains("math_attention"));
  EXPECT_THAT(Model().with([](Model& m) { m.called("aten::_scaled_dot_product_flash_attention_for_cpu", 300'000); }).named(),
              Not(Contains("math_attention")));
}

TEST(ModelRules, ForwardOpsInsideOfBackwardAreRecomputation) {
  Model model;
  model.with([](Model& m) { m.in_backward("aten::linear", 300'000); });
  EXPECT_THAT(model.named(), ElementsAre("recomputation"));
  EXPECT_THAT(Model().with([](Model& m) { m.in_backward("aten::mm", 300'000); }).named(), IsEmpty());
}

TEST(ModelRules, GraphsThatNobodyUsesAreTold) {
  const auto evaluate = [](Model& m) {
    for (int k = 0; k < 6; ++k) m.called("aten::linear", 50'000, 21);
  };
  Model model;
  model.with(evaluate);
  const std::vector<Finding> found = model.findings();
  ASSERT_THAT(found, testing::SizeIs(1));
  EXPECT_EQ(found[0].id, "unused_graphs");
  EXPECT_EQ(found[0].lines.front(), "model.py:21:forward");
}

TEST(ModelRules, OpsWithoutGraphAreNoUnusedGraph) {
  Model model;
  model.with([](Model& m) {
    for (int k = 0; k < 6; ++k) {
      m.maker.op("aten::linear", m.now, 50'000);  // under no_grad: without a number
      m.now += 50'100;
    }
  });
  EXPECT_THAT(model.named(), IsEmpty());
}

TEST(ModelRules, CopiesThatChangeTheLayoutAreTold) {
  Model model;
  model.with([](Model& m) {
    m.maker.op("aten::contiguous", m.now, 200'000);
    m.maker.op("aten::clone", m.now + 10, 199'000);
    m.now += 200'100;
  });
  EXPECT_THAT(model.named(), ElementsAre("converted_layouts"));
}

// Each of these ops belongs to the backward pass of the step.
void chain(Model& m, int length, std::int64_t duration) {
  for (int k = 0; k < length; ++k) {
    m.maker.stack(m.maker.op("aten::mul", m.now, duration), {{"model.py", 9, "activation"}});
    m.now += duration + 100;
  }
}

TEST(ModelRules, LongChainsOfElementWiseOpsAreTold) {
  Model model;
  model.with([](Model& m) { chain(m, 8, 50'000); });
  const std::vector<Finding> found = model.findings();
  ASSERT_THAT(found, testing::SizeIs(1));
  EXPECT_EQ(found[0].id, "elementwise_chains");
  EXPECT_THAT(found[0].lines, ElementsAre("model.py:9:activation"));
  EXPECT_THAT(Model().with([](Model& m) { chain(m, 2, 200'000); }).named(), IsEmpty());
}

TEST(ModelRules, LookingForNanInEachGradientIsAnomalyDetection) {
  Model model;
  model.with([](Model& m) {
    for (int k = 0; k < 5; ++k) m.in_backward("aten::isnan", 40'000);
  });
  EXPECT_THAT(model.named(), ElementsAre("anomaly_detection"));
  EXPECT_THAT(Model().with([](Model& m) { m.called("aten::isnan", 200'000); }).named(), Not(Contains("anomaly_detection")));
}

TEST(ModelRules, ManySmallCallsAreOneByOneAndFewLargeOnesAreNot) {
  for (const bool is_loop : {true, false}) {
    Model model;
    model.with([&](Model& it) {
      for (int row = 0; row < (is_loop ? 120 : 12); ++row) {
        const std::int64_t duration = is_loop ? 4'000 : 40'000;
        it.maker.stack(it.maker.op("aten::addmm", it.now, duration), {{"model.py", 19, "forward"}});
        it.now += duration + 100;
      }
    });
    const std::vector<Finding> found = model.findings();
    if (!is_loop) {
      EXPECT_THAT(found, IsEmpty());
      continue;
    }
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].id, "small_calls");
    EXPECT_THAT(found[0].lines, ElementsAre("model.py:19:forward"));
  }
}

}  // namespace
}  // namespace mindtorch::analyze

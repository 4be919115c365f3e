// Copies that are undone: found between devices, types and layouts, and not where something is computed in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/analyze/report/findings.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using trace::EventKind;
using trace::ScalarType;

constexpr std::int64_t kStep = 1'000'000;  // 1 ms
constexpr std::int64_t kCopy = 100'000;

// Ten steps with what a test adds at their beginning. Ops fill the rest.
class Loop {
 public:
  explicit Loop(bool with_stacks = false) : with_stacks_(with_stacks) {}

  template <class Add>
  Loop& with(Add add) {
    for (int step = 0; step < 10; ++step) {
      const std::int64_t start = step * kStep;
      maker.step(step, start, kStep);
      now = start + 1000;
      add(*this);
      maker.op("aten::linear", now, start + kStep - 1000 - now);
    }
    return *this;
  }

  // aten::to, which calls aten::copy_.
  void convert(const trace::Input& from, const trace::Input& to, int line = 1) {
    place(maker.op("aten::to", now, kCopy), line);
    maker.builder().set_inputs(maker.op("aten::copy_", now + 10, kCopy - 20), std::vector{to, from});
    now += kCopy + 100;
  }

  void transfer(std::string_view name, std::int64_t bytes, int line = 1) {
    place(maker.op("aten::to", now, kCopy), line);
    maker.launch(now + 10, kCopy - 20, ++correlation_);
    maker.builder().add_attribute(maker.kernel(name, now + 20, kCopy - 50, correlation_, EventKind::kMemcpy), "bytes", bytes);
    now += kCopy + 100;
  }

  void op(std::string_view name) {
    maker.op(name, now, 1000);
    now += 1100;
  }

  std::vector<Finding> copies() {
    const trace::Recording recording = maker.finish();
    const Analysis analysis(recording);
    const Phases phases(analysis);
    std::vector<Finding> found;
    for (Finding& finding : find_findings(analysis, phases, work_tables(analysis, phases))) {
      if (finding.id == "unneeded_copies") found.push_back(std::move(finding));
    }
    return found;
  }

  Maker maker;
  std::int64_t now = 0;

 private:
  void place(Maker::Id event, int line) {
    if (with_stacks_) maker.stack(event, {{"train.py", line, "main"}});
  }

  bool with_stacks_;
  std::uint64_t correlation_ = 0;
};

trace::Input tensor(ScalarType dtype, std::vector<std::int64_t> sizes = {64, 64}, std::vector<std::int64_t> strides = {}) {
  return {.kind = trace::Input::Kind::kTensor, .dtype = dtype, .sizes = std::move(sizes), .strides = std::move(strides)};
}

const trace::Input kFloat = tensor(ScalarType::kFloat), kHalf = tensor(ScalarType::kHalf);

TEST(CopyRules, ATypeThatIsChangedAndChangedBackIsFoundWithItsCostAndLines) {
  const std::vector<Finding> found = Loop(true)
                                         .with([](Loop& loop) {
                                           loop.convert(kFloat, kHalf, 7);
                                           loop.convert(kHalf, kFloat, 8);
                                         })
                                         .copies();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cost_ns, 2 * kCopy);
  EXPECT_NEAR(found[0].share, 0.2, 1e-9);
  EXPECT_THAT(found[0].evidence, ElementsAre(HasSubstr("2.0 copies per step take 200.000us")));
  EXPECT_THAT(found[0].ops, ElementsAre("aten::to"));
  EXPECT_THAT(found[0].lines, testing::UnorderedElementsAre("train.py:7:main", "train.py:8:main"));
}

TEST(CopyRules, ATypeThatSomethingIsComputedInIsNeeded) {
  EXPECT_THAT(Loop()
                  .with([](Loop& loop) {
                    loop.convert(kFloat, kHalf);
                    loop.op("aten::mm");
                    loop.convert(kHalf, kFloat);
                  })
                  .copies(),
              IsEmpty());
}

TEST(CopyRules, OpsThatComputeNothingMayStandInBetween) {
  EXPECT_EQ(Loop()
                .with([](Loop& loop) {
                  loop.convert(kFloat, kHalf);
                  loop.op("aten::detach");
                  loop.convert(kHalf, kFloat);
                })
                .copies()
                .size(),
            1U);
}

TEST(CopyRules, CopiesOfDifferentTensorsAreNoPair) {
  EXPECT_THAT(Loop()
                  .with([](Loop& loop) {
                    loop.convert(kFloat, kHalf);
                    loop.convert(tensor(ScalarType::kHalf, {8, 8}), tensor(ScalarType::kFloat, {8, 8}));
                  })
                  .copies(),
              IsEmpty());
  EXPECT_THAT(Loop()
                  .with([](Loop& loop) {
                    loop.convert(kFloat, kHalf);
                    loop.convert(kFloat, kHalf);
                  })
                  .copies(),
              IsEmpty());
}

TEST(CopyRules, ALayoutThatIsChangedAndChangedBackIsFound) {
  const trace::Input rows = tensor(ScalarType::kFloat, {2, 3, 4, 5}, {60, 1, 15, 3}), plain = tensor(ScalarType::kFloat, {2, 3, 4, 5});
  EXPECT_EQ(Loop()
                .with([&](Loop& loop) {
                  loop.convert(plain, rows);
                  loop.convert(rows, plain);
                })
                .copies()
                .size(),
            1U);
  EXPECT_THAT(Loop().with([&](Loop& loop) { loop.convert(rows, plain); }).copies(), IsEmpty());
}

TEST(CopyRules, ATensorThatLeavesTheDeviceAndComesBackIsFound) {
  const std::vector<Finding> found = Loop(true)
                                         .with([](Loop& loop) {
                                           loop.transfer("Memcpy DtoH (Device -> Pinned)", 1 << 20, 5);
                                           loop.transfer("Memcpy HtoD (Pinned -> Device)", 1 << 20, 6);
                                         })
                                         .copies();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cost_ns, 2 * kCopy);
  EXPECT_THAT(found[0].lines, Contains("train.py:5:main"));
}

TEST(CopyRules, TransfersOfOtherSizesOrWithWorkInBetweenAreNeeded) {
  EXPECT_THAT(Loop()
                  .with([](Loop& loop) {
                    loop.transfer("Memcpy DtoH (Device -> Pinned)", 1 << 20);
                    loop.transfer("Memcpy HtoD (Pinned -> Device)", 1 << 10);
                  })
                  .copies(),
              IsEmpty());
  EXPECT_THAT(Loop()
                  .with([](Loop& loop) {
                    loop.transfer("Memcpy DtoH (Device -> Pinned)", 1 << 20);
                    loop.op("aten::add");
                    loop.transfer("Memcpy HtoD (Pinned -> Device)", 1 << 20);
                  })
                  .copies(),
              IsEmpty());
  EXPECT_THAT(Loop()
                  .with([](Loop& loop) {
                    loop.transfer("Memcpy DtoH (Device -> Pinned)", 4);
                    loop.transfer("Memcpy HtoD (Pinned -> Device)", 4);
                  })
                  .copies(),
              IsEmpty())
      << "scalars";
}

}  // namespace
}  // namespace mindtorch::analyze

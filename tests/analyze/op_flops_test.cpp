// OpFlops: formulas applied to recorded calls.
#include "mindtorch/analyze/op_flops.h"

#include <gtest/gtest.h>

#include "mindtorch/analyze/analysis.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

TEST(OpFlops, OnlyOpsWithShapesAndAFormulaCount) {
  Maker maker;
  maker.builder().recording().options.flops = true;
  maker.shapes(maker.op("aten::mm", 0, 5), {{2, 3}, {3, 4}});
  maker.shapes(maker.op("aten::relu", 10, 5), {{2, 3}});
  maker.shapes(maker.scope("mm", 20, 5), {{2, 3}, {3, 4}});
  maker.op("aten::mm", 30, 5);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const OpFlops& flops = analysis.flops();
  EXPECT_EQ(flops.of(0), 48);
  EXPECT_EQ(flops.of(1), 0);
  EXPECT_EQ(flops.of(2), 0);
  EXPECT_EQ(flops.of(3), 0);
  ASSERT_EQ(flops.all().size(), 1u);
  EXPECT_EQ(flops.all()[0].flops, 48);
}

TEST(OpFlops, CallsInsideACountedCallHaveNone) {
  Maker maker;
  maker.builder().recording().options.flops = true;
  maker.shapes(maker.op("aten::linear", 0, 50), {{2, 3}, {4, 3}});
  maker.shapes(maker.op("aten::mm", 10, 20), {{2, 3}, {3, 4}});
  maker.shapes(maker.op("aten::conv2d", 100, 50), {{1, 1, 3, 3}, {1, 1, 3, 3}});
  maker.shapes(maker.op("aten::convolution", 110, 30), {{1, 1, 3, 3}, {1, 1, 3, 3}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  std::vector<std::int64_t> flops;
  for (EventIndex event = 0; event < 4; ++event) flops.push_back(analysis.flops().of(event));
  EXPECT_EQ(flops, (std::vector<std::int64_t>{0, 48, 18, 0}));
}

TEST(OpFlops, NothingIsCountedUnlessAskedFor) {
  Maker maker;
  maker.shapes(maker.op("aten::mm", 0, 5), {{2, 3}, {3, 4}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_EQ(analysis.flops().of(0), 0);
  EXPECT_TRUE(analysis.flops().all().empty());
}

}  // namespace
}  // namespace mindtorch::analyze

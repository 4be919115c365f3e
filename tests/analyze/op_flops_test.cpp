// OpFlops: formulas applied to recorded calls.
#include "mindtorch/analyze/op_flops.h"

#include <gtest/gtest.h>

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
  const OpFlops flops(recording);
  EXPECT_EQ(flops.of(0), 48);
  EXPECT_EQ(flops.of(1), 0);
  EXPECT_EQ(flops.of(2), 0);
  EXPECT_EQ(flops.of(3), 0);
  ASSERT_EQ(flops.all().size(), 1u);
  EXPECT_EQ(flops.all()[0].flops, 48);
}

TEST(OpFlops, NothingIsCountedUnlessAskedFor) {
  Maker maker;
  maker.shapes(maker.op("aten::mm", 0, 5), {{2, 3}, {3, 4}});
  const trace::Recording recording = maker.finish();
  const OpFlops flops(recording);
  EXPECT_FALSE(flops.enabled());
  EXPECT_EQ(flops.of(0), 0);
  EXPECT_TRUE(flops.all().empty());
}

}  // namespace
}  // namespace mindtorch::analyze

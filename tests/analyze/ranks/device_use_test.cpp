// Compute, communication and idle time of a device.
#include "mindtorch/analyze/ranks/device_use.h"

#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

TEST(DeviceUse, CountsWhatRunsAtTheSameTimeOnce) {
  Maker maker;
  maker.kernel("gemm", 100, 100, 1);
  maker.kernel("gemm", 150, 100, 2);
  maker.kernel("ncclDevKernel_AllReduce_Sum", 200, 200, 3);
  maker.kernel("Memcpy", 500, 100, 4, trace::EventKind::kMemcpy);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const auto uses = device_use(recording, find_collectives(analysis));
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses[0], (RankDevice{kNpu0, 500, 150, 200, 50, 100}));
}

TEST(DeviceUse, IsEmptyWithoutADevice) {
  Maker maker;
  maker.op("aten::mm", 0, 10);
  EXPECT_TRUE(device_use(maker.finish(), {}).empty());
}

}  // namespace
}  // namespace mindtorch::analyze

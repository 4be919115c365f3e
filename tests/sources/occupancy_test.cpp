// The estimate of a kernel's occupancy, against what torch.profiler wrote for kernels on an H200.
#include "mindtorch/sources/cupti/occupancy.h"

#include <gtest/gtest.h>

#include <array>

namespace mindtorch::sources::cupti {
namespace {

constexpr MultiprocessorLimits kH200 = {.compute_major = 9,
                                        .compute_minor = 0,
                                        .threads = 2048,
                                        .warp_size = 32,
                                        .registers = 65536,
                                        .shared_memory = 233472,
                                        .blocks = 32,
                                        .reserved_shared_memory = 1024};
constexpr double kMultiprocessors = 132;

TEST(CuptiOccupancy, IsWhatTorchEstimates) {
  struct Kernel {
    int blocks;
    BlockNeeds block;
    int percent;
  };
  constexpr std::array<Kernel, 10> kKernels = {{{1, {512, 32, 2064}, 0},
                                                {6, {512, 32, 0}, 1},
                                                {8, {256, 31, 2112}, 1},
                                                {12, {128, 76, 20480}, 1},
                                                {16, {64, 90, 6144}, 0},
                                                {16, {256, 32, 4356}, 2},
                                                {32, {512, 32, 0}, 6},
                                                {64, {64, 90, 6144}, 2},
                                                {64, {128, 39, 24}, 3},
                                                {128, {64, 19, 0}, 3}}};
  for (const Kernel& kernel : kKernels)
    EXPECT_EQ(estimated_occupancy_percent(kH200, kernel.block, kernel.blocks / kMultiprocessors), kernel.percent) << kernel.blocks;
}

TEST(CuptiOccupancy, IsBoundByWhateverIsScarcest) {
  EXPECT_EQ(resident_blocks(kH200, {.threads = 1024}), 2) << "threads";
  EXPECT_EQ(resident_blocks(kH200, {.threads = 32}), 32) << "blocks";
  EXPECT_EQ(resident_blocks(kH200, {.threads = 256, .registers_per_thread = 128}), 2) << "registers";
  EXPECT_EQ(resident_blocks(kH200, {.threads = 128, .shared_memory = 100 * 1024}), 2) << "shared memory";
  EXPECT_EQ(estimated_occupancy_percent(kH200, {.threads = 1024}, 50), 100);
}

TEST(CuptiOccupancy, IsNotKnownForADeviceThatIsNotKnown) { EXPECT_EQ(estimated_occupancy_percent({}, {.threads = 32}, 1), -1); }

}  // namespace
}  // namespace mindtorch::sources::cupti

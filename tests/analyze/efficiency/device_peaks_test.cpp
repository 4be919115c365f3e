// Peaks of devices, by name and by what their drivers report.
#include "mindtorch/analyze/efficiency/device_peaks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mindtorch/base/error.h"

namespace mindtorch::analyze {
namespace {

using trace::ComputeUnit;

trace::DeviceProperties device(std::string name, std::vector<trace::DeviceProperty> numbers = {}) {
  return {.device = {trace::DeviceType::kCuda, 0}, .name = std::move(name), .numbers = std::move(numbers)};
}

double bfloat16_of(const trace::DeviceProperties& properties) {
  const auto peaks = listed_peaks(properties);
  return peaks ? peaks->of(ComputeUnit::kBFloat16) : 0;
}

TEST(DevicePeaks, AreDenseAndBelongToTheBoard) {
  EXPECT_EQ(bfloat16_of(device("NVIDIA H200", {{"numSms", 132}})), 989.4);
  EXPECT_EQ(bfloat16_of(device("NVIDIA H100 80GB HBM3", {{"numSms", 132}})), 989.4);
  EXPECT_EQ(bfloat16_of(device("NVIDIA H100 PCIe", {{"numSms", 114}})), 756);
  EXPECT_EQ(bfloat16_of(device("NVIDIA H100 NVL")), 835.5);
  EXPECT_EQ(bfloat16_of(device("NVIDIA A100-SXM4-80GB")), 312);
  EXPECT_EQ(bfloat16_of(device("NVIDIA L40S")), 362);
  EXPECT_EQ(bfloat16_of(device("NVIDIA L40")), 181);
  EXPECT_EQ(bfloat16_of(device("NVIDIA GeForce RTX 4090")), 165.2);
  EXPECT_EQ(bfloat16_of(device("AMD Instinct MI300X")), 1307.4);
  EXPECT_EQ(listed_peaks(device("NVIDIA A100-SXM4-40GB"))->tbytes, 1.555);
  EXPECT_EQ(listed_peaks(device("NVIDIA A100-SXM4-80GB"))->tbytes, 2.039);
}

TEST(DevicePeaks, APartOfADeviceIsAnotherDevice) {
  EXPECT_FALSE(listed_peaks(device("NVIDIA H100 80GB HBM3", {{"numSms", 16}})));
  EXPECT_FALSE(listed_peaks(device("NVIDIA A100-SXM4-80GB MIG 1g.10gb")));
  EXPECT_FALSE(listed_peaks(device("NVIDIA GeForce RTX 4090 Laptop GPU")));
  EXPECT_FALSE(listed_peaks(device("GPU of the tests")));
  EXPECT_FALSE(listed_peaks(device("")));
}

TEST(DevicePeaks, FollowFromTheProperties) {
  const auto hopper = computed_peaks(device("an H200 in disguise", {{"numSms", 132},
                                                                    {"clockRate", 1830000},
                                                                    {"computeMajor", 9},
                                                                    {"computeMinor", 0},
                                                                    {"memoryClockRate", 3201000},
                                                                    {"memoryBusWidth", 6144},
                                                                    {"l2CacheSize", 62914560}}));
  ASSERT_TRUE(hopper.has_value());
  const auto listed = listed_peaks(device("NVIDIA H200"));
  // The datasheet gives the units for matrices at this clock, and the others at a higher one.
  for (const ComputeUnit unit :
       {ComputeUnit::kTf32, ComputeUnit::kBFloat16, ComputeUnit::kFloat16, ComputeUnit::kFloat8, ComputeUnit::kInt8})
    EXPECT_NEAR(hopper->of(unit) / listed->of(unit), 1, 0.01) << compute_unit_name(unit);
  EXPECT_NEAR(hopper->of(ComputeUnit::kFloat32), 132 * 256 * 1.83e9 / 1e12, 1e-9);
  EXPECT_NEAR(hopper->tbytes, 4.917, 0.01);
  EXPECT_NEAR(hopper->cache_mbytes, 62.9, 0.1);
}

TEST(DevicePeaks, GeForceBoardsAddUpInFloat32AtHalfTheSpeed) {
  const auto ada = computed_peaks(
      device("NVIDIA GeForce RTX 4090", {{"numSms", 128}, {"clockRate", 2520000}, {"computeMajor", 8}, {"computeMinor", 9}}));
  ASSERT_TRUE(ada.has_value());
  EXPECT_NEAR(ada->of(ComputeUnit::kBFloat16), 165.2, 0.2);
  EXPECT_NEAR(ada->of(ComputeUnit::kFloat32), 82.6, 0.2);
}

TEST(DevicePeaks, AreNotGuessed) {
  EXPECT_FALSE(computed_peaks(device("NVIDIA H200", {{"numSms", 132}, {"computeMajor", 9}, {"computeMinor", 0}})));
  EXPECT_FALSE(computed_peaks(device("new", {{"numSms", 132}, {"clockRate", 1830000}, {"computeMajor", 99}, {"computeMinor", 0}})));
}

TEST(DevicePeaks, CanBeSet) {
  trace::DevicePeaks peaks;
  set_peak(peaks, "bfloat16=800.5");
  set_peak(peaks, "memory=4.2");
  EXPECT_EQ(peaks.of(ComputeUnit::kBFloat16), 800.5);
  EXPECT_EQ(peaks.tbytes, 4.2);
  for (const char* text : {"", "bfloat16", "bfloat16=", "bfloat16=x", "bfloat16=-1", "bfloat16=0", "bf16=1", "bfloat16=inf", "memory=1GB"})
    EXPECT_THROW(set_peak(peaks, text), InvalidArgument) << text;
}

}  // namespace
}  // namespace mindtorch::analyze

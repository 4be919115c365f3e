// LaunchMatching: counts of what is missing, whatever the order in which records come.
#include "mindtorch/record/launch_matching.h"

#include <gtest/gtest.h>

namespace mindtorch::record {
namespace {

using trace::EventKind;

DeviceRecord launch(std::uint64_t correlation) { return {.correlation = correlation, .kind = EventKind::kRuntime, .launches = true}; }
DeviceRecord call(std::uint64_t correlation) { return {.correlation = correlation, .kind = EventKind::kRuntime}; }
DeviceRecord kernel(std::uint64_t correlation) { return {.correlation = correlation, .kind = EventKind::kKernel}; }

TEST(LaunchMatching, ALaunchAndItsWorkMatchInAnyOrder) {
  LaunchMatching matching;
  for (std::uint64_t i = 1; i <= 5000; ++i) matching.add(i % 2 == 0 ? launch(i) : kernel(i));
  EXPECT_EQ(matching.launches_without_work(), 2500u);
  EXPECT_EQ(matching.work_without_call(), 2500u);
  for (std::uint64_t i = 5000; i >= 1; --i) matching.add(i % 2 == 0 ? kernel(i) : launch(i));
  EXPECT_EQ(matching.launches_without_work(), 0u);
  EXPECT_EQ(matching.work_without_call(), 0u);
}

TEST(LaunchMatching, OnlyLaunchesNeedWorkAndAnyCallExplainsIt) {
  LaunchMatching matching;
  matching.add(call(7));
  EXPECT_EQ(matching.launches_without_work(), 0u);
  matching.add(kernel(7));
  matching.add(kernel(7));  // a replayed graph: one call, many kernels
  EXPECT_EQ(matching.work_without_call(), 0u);
}

TEST(LaunchMatching, CorrelationsFarApartAreDifferentAndZeroIsNone) {
  LaunchMatching matching;
  matching.add(launch(1));
  matching.add(kernel(1 + (std::uint64_t{1} << 63)));
  matching.add(kernel(513));
  matching.add(launch(0));
  matching.add(kernel(0));
  EXPECT_EQ(matching.launches_without_work(), 1u);
  EXPECT_EQ(matching.work_without_call(), 2u);
}

}  // namespace
}  // namespace mindtorch::record

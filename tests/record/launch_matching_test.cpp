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

constexpr std::uint64_t kPerPage = 512;

// A recording that spills may run for ever: what it remembers must not grow with the number of launches.
TEST(LaunchMatching, ForgetsLaunchesThatHaveTheirWork) {
  LaunchMatching matching;
  for (std::uint64_t i = 1; i <= 4'000'000; ++i) {
    matching.add(launch(i));
    matching.add(kernel(i));
    if (i % 50'000 == 0) matching.forget_settled();
    ASSERT_LE(matching.pages(), LaunchMatching::kRecentPages + 50'000 / kPerPage + 2);
  }
  EXPECT_EQ(matching.launches_without_work(), 0u);
  EXPECT_EQ(matching.work_without_call(), 0u);
}

TEST(LaunchMatching, RemembersWhatIsMissingHoweverOldItIs) {
  LaunchMatching matching;
  const auto fill = [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i <= last; ++i) {
      matching.add(launch(i));
      matching.add(kernel(i));
    }
    matching.forget_settled();
  };
  matching.add(launch(1));
  matching.add(kernel(2));
  fill(3, 1'000'000);
  EXPECT_EQ(matching.launches_without_work(), 1u);
  EXPECT_EQ(matching.work_without_call(), 1u);
  matching.add(kernel(1));  // it has run all the time
  matching.add(call(2));
  matching.add(kernel(5000));  // more work of a call that is forgotten
  EXPECT_EQ(matching.launches_without_work(), 0u);
  EXPECT_EQ(matching.work_without_call(), 0u);
  fill(1'000'001, 1'000'100);
  EXPECT_EQ(matching.launches_without_work(), 0u);
  EXPECT_EQ(matching.work_without_call(), 0u);
}

TEST(LaunchMatching, CountsLossesThatNeverEndWithoutRememberingEach) {
  LaunchMatching matching;
  std::uint64_t lost = 0;
  for (std::uint64_t i = 1; i <= 4'000'000; ++i) {
    matching.add(launch(i));
    if (i % kPerPage != 7)
      matching.add(kernel(i));
    else
      ++lost;
    if (i % 100'000 == 0) matching.forget_settled();
  }
  EXPECT_EQ(matching.launches_without_work(), lost);
  EXPECT_LE(matching.pages(), LaunchMatching::kRecentPages + LaunchMatching::kMostOldPages + 1);
}

}  // namespace
}  // namespace mindtorch::record

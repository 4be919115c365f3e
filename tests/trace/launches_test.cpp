// LaunchIndex: calls by correlation, whether these are counted up or scattered.
#include "mindtorch/trace/launches.h"

#include <gtest/gtest.h>

#include <vector>

#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {
namespace {

TEST(LaunchIndex, FindsCorrelationsThatAreCountedUpAndThoseThatAreScattered) {
  for (const std::uint64_t stride : {std::uint64_t{1}, std::uint64_t{1} << 40}) {
    std::vector<LaunchIndex::Launch> launches;
    for (std::uint32_t i = 0; i < 100; ++i) launches.push_back({7 + i * stride, 1000 + i});
    LaunchIndex index(launches);
    for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(index.find(7 + i * stride), 1000 + i);
    for (const std::uint32_t i : {99, 3, 3, 50, 0}) EXPECT_EQ(index.find(7 + i * stride), 1000 + i) << "in any order, and again";
    for (const std::uint64_t unknown : {std::uint64_t{0}, std::uint64_t{6}, 7 + 100 * stride})
      EXPECT_EQ(index.find(unknown), LaunchIndex::kNone);
  }
}

TEST(LaunchIndex, OfSeveralValuesTheFirstIsFound) {
  for (const std::uint64_t far : {std::uint64_t{3}, std::uint64_t{1} << 50}) {
    LaunchIndex index({{2, 10}, {2, 11}, {far, 12}, {far, 13}});
    EXPECT_EQ(index.find(far), 12u);
    EXPECT_EQ(index.find(2), 10u);
    EXPECT_EQ(index.find(2), 10u);
  }
}

TEST(LaunchIndex, ARecordingGivesItsCallsThatHaveACorrelation) {
  EventColumns events;
  events.push_back({.link = 5, .kind = EventKind::kOp});
  events.push_back({.link = 5, .kind = EventKind::kDriver});
  events.push_back({.link = 0, .kind = EventKind::kRuntime});
  events.push_back({.link = 5, .kind = EventKind::kKernel});
  LaunchIndex index = LaunchIndex::of_calls(events);
  EXPECT_EQ(index.find(5), 1u);
  EXPECT_EQ(index.find(0), LaunchIndex::kNone);
  EXPECT_EQ(LaunchIndex::of_calls(EventColumns()).find(5), LaunchIndex::kNone);
}

}  // namespace
}  // namespace mindtorch::trace

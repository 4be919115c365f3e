// Activity filters: which kinds of events torch's names stand for.
#include "mindtorch/profiler/activity_filter.h"

#include <gtest/gtest.h>

#include <array>

#include "mindtorch/base/error.h"
#include "tests/profiler/profile_fixture.h"

namespace mindtorch::profiler {
namespace {

using trace::EventKind;

bool has(const trace::KindSet& kinds, EventKind kind) { return kinds[static_cast<std::size_t>(kind)]; }

constexpr std::array kCpuAndNpu = {Activity::kCpu, Activity::kNpu};

TEST(ActivityFilter, WithoutFiltersEverythingIsWanted) {
  const trace::KindSet kinds = wanted_kinds(kCpuAndNpu, {});
  EXPECT_TRUE(kinds.all());
}

TEST(ActivityFilter, OnlyTheNamedGroupsOfAnActivityAreWanted) {
  const std::array filters = {ActivityFilter{Activity::kNpu, {"GPU_MEMCPY"}}, ActivityFilter{Activity::kCpu, {"CPU_OP"}}};
  const trace::KindSet kinds = wanted_kinds(kCpuAndNpu, filters);
  EXPECT_TRUE(has(kinds, EventKind::kOp));
  EXPECT_TRUE(has(kinds, EventKind::kBackward));
  EXPECT_TRUE(has(kinds, EventKind::kMemcpy));
  EXPECT_FALSE(has(kinds, EventKind::kScope));
  EXPECT_FALSE(has(kinds, EventKind::kKernel));
  EXPECT_FALSE(has(kinds, EventKind::kRuntime));
}

TEST(ActivityFilter, NoNamesMeanNothingOfThatActivity) {
  const std::array filters = {ActivityFilter{Activity::kNpu, {}}};
  const trace::KindSet kinds = wanted_kinds(kCpuAndNpu, filters);
  EXPECT_FALSE(has(kinds, EventKind::kKernel));
  EXPECT_TRUE(has(kinds, EventKind::kRuntime)) << "runtime calls are host events too";
}

TEST(ActivityFilter, UnknownNamesAndThoseOfAnotherActivityAreRefusedWithTorchsText) {
  for (const char* name : {"BOGUS", "GPU_MEMCPY", "cpu_op"}) {
    const std::array filters = {ActivityFilter{Activity::kCpu, {name}}};
    EXPECT_EQ(error_of<Error>([&] { wanted_kinds(kCpuAndNpu, filters); }),
              "Unknown or non-member activity type name: '" + std::string(name) + "'");
  }
}

}  // namespace
}  // namespace mindtorch::profiler

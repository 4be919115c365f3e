// The default id of a trace.
#include "mindtorch/profiler/trace_id.h"

#include <gmock/gmock.h>

#include <set>

namespace mindtorch::profiler {
namespace {

TEST(TraceId, IsAUuidOfVersionFourInUpperCaseHexadecimal) {
  for (int i = 0; i < 100; ++i) EXPECT_THAT(random_trace_id(), ::testing::MatchesRegex("[0-9A-F]{12}4[0-9A-F]{3}[89AB][0-9A-F]{15}"));
}

TEST(TraceId, NeverRepeats) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(random_trace_id());
  EXPECT_EQ(ids.size(), 1000U);
}

}  // namespace
}  // namespace mindtorch::profiler

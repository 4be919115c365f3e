// CallIds: numbers of calls, and ids of the events that have none.
#include "mindtorch/export/call_ids.h"

#include <gtest/gtest.h>

#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/call_details.h"

namespace mindtorch::exporter {
namespace {

TEST(CallIds, WhereNoCallHasANumberTheIdOfTheEventIsTaken) {
  trace::RecordingBuilder builder;
  builder.add_thread(7);
  builder.add_event({.name = "op", .duration_ns = 1});
  const trace::Recording recording = builder.finish();
  const CallIds ids(recording);
  EXPECT_FALSE(ids.given(0));
  EXPECT_EQ(ids.of(0), recording.id(0));
}

TEST(CallIds, AnEventWithoutANumberHasOneThatNoCallHas) {
  trace::RecordingBuilder builder;
  builder.add_thread(7);
  builder.add_attribute(builder.add_event({.name = "op", .duration_ns = 1}), trace::kCallId, std::int64_t{2});
  builder.add_event({.name = "scope", .start_ns = 5, .duration_ns = 1});
  const trace::Recording recording = builder.finish();
  const CallIds ids(recording);
  EXPECT_EQ(ids.given(0), 2u);
  EXPECT_EQ(ids.of(0), 2u);
  EXPECT_FALSE(ids.given(1));
  EXPECT_EQ(ids.of(1), recording.id(1) + (std::uint64_t{1} << 48));
}

}  // namespace
}  // namespace mindtorch::exporter

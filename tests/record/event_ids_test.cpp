// Ids of events do not repeat in a process.
#include "mindtorch/record/event_ids.h"

#include <gtest/gtest.h>

#include "mindtorch/record/hooks.h"
#include "mindtorch/record/session.h"

namespace mindtorch::record {
namespace {

trace::Recording record_scopes(int scopes) {
  const auto session = Session::prepare({});
  session->start();
  for (int i = 0; i < scopes; ++i) const NamedScope scope("scope");
  return session->stop();
}

TEST(EventIds, GoOnCountingInTheNextSession) {
  const trace::Recording first = record_scopes(3), second = record_scopes(2);
  ASSERT_EQ(first.events.size(), 3U);
  EXPECT_GE(first.first_id, 1U);
  EXPECT_EQ(first.id(2), first.first_id + 2);
  EXPECT_EQ(second.first_id, first.first_id + 3);
}

TEST(EventIds, LeaveRoomForMemoryReports) {
  trace::Recording with_memory, next;
  with_memory.events.resize(2);
  with_memory.memory.resize(5);
  assign_event_ids(with_memory);
  assign_event_ids(next);
  EXPECT_EQ(next.first_id, with_memory.first_id + 7);
}

}  // namespace
}  // namespace mindtorch::record

// Ordering: rows move only if they must, and side rows move with them.
#include "mindtorch/trace/ordering.h"

#include <gtest/gtest.h>

#include <array>

namespace mindtorch::trace {
namespace {

Recording with_starts(std::vector<std::int64_t> starts, std::size_t tracks) {
  Recording recording;
  recording.tracks.resize(tracks);
  recording.events.resize(starts.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    recording.events.start_ns[i] = starts[i];
    recording.events.duration_ns[i] = 0;
    recording.events.link[i] = i;
  }
  return recording;
}

TEST(Ordering, WhatLiesRightDoesNotMove) {
  Recording recording = with_starts({1, 2, 1, 2}, 2);
  EXPECT_TRUE(order_events(recording, std::array<TrackId, 4>{0, 0, 1, 1}).empty());
  EXPECT_EQ(recording.tracks[1].first_event, 2u);
  EXPECT_EQ(recording.tracks[1].event_count, 2u);
}

TEST(Ordering, EventsMoveToTheirTrackAndTakeTheirRowsAlong) {
  Recording recording = with_starts({5, 4, 3}, 2);
  recording.inputs.add(0, std::array<std::int64_t, 1>{50});
  recording.inputs.add(2, std::array<std::int64_t, 2>{30, 31});
  EXPECT_EQ(order_events(recording, std::array<TrackId, 3>{0, 1, 0}), (std::vector<EventIndex>{1, 2, 0}));
  EXPECT_EQ(recording.events.link[0], 2u);
  EXPECT_EQ(recording.inputs.find(0)[1], 31);
  EXPECT_EQ(recording.inputs.find(1)[0], 50);
}

TEST(Ordering, TheTrackColumnIsWhatTheTracksSay) {
  Recording recording = with_starts({5, 4, 3}, 3);
  order_events(recording, std::array<TrackId, 3>{2, 0, 2});
  EXPECT_EQ(track_column(recording), (std::vector<TrackId>{0, 2, 2}));
}

TEST(Ordering, RowsInAnyOrderFollowTheirEventsAndStayApart) {
  Recording recording = with_starts({5, 4, 3}, 2);
  for (const auto& [event, value] : {std::pair{2u, 1}, {0u, 2}, {2u, 3}, {1u, 4}}) {
    recording.inputs.add(event, std::array<std::int64_t, 1>{value});
  }
  order_events(recording, std::array<TrackId, 3>{0, 1, 0});
  EXPECT_EQ(recording.inputs.events, (std::vector<EventIndex>{0, 0, 1, 2}));
  EXPECT_EQ(recording.inputs.values, (std::vector<std::int64_t>{1, 3, 2, 4}));
  EXPECT_EQ(recording.inputs.offsets, (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
}

TEST(Ordering, RowsOfOneEventAreJoinedOrTheLastCounts) {
  SideTable<std::int64_t> table;
  for (const auto& [event, value] : {std::pair{4u, 1}, {2u, 2}, {4u, 3}, {4u, 4}}) table.add(event, std::array<std::int64_t, 1>{value});
  SideTable<std::int64_t> last = table;
  order_rows(table, SameEvent::kJoinedRows);
  order_rows(last, SameEvent::kLastRow);
  EXPECT_EQ(table.events, (std::vector<EventIndex>{2, 4}));
  EXPECT_EQ(table.values, (std::vector<std::int64_t>{2, 1, 3, 4}));
  EXPECT_EQ(last.values, (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(last.offsets, (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST(Ordering, SharedRowsFollowTheirEventsAndAreJoinedWithoutChangingOthers) {
  Recording recording = with_starts({5, 4, 3}, 2);
  SharedTable<Attribute>& table = recording.attributes;
  const auto value = [](std::int64_t bits) { return std::array{Attribute{0, Attribute::Type::kInt, bits}}; };
  const std::uint32_t shared = table.add_shared_row(value(1));
  table.share(2, shared);
  table.share(0, shared);
  table.add(2, value(3));
  order_events(recording, std::array<TrackId, 3>{0, 1, 0});
  order_side_rows(recording);
  EXPECT_EQ(table.events, (std::vector<EventIndex>{0, 1}));
  ASSERT_EQ(table.row(0).size(), 2u);
  EXPECT_EQ(table.row(0)[0].bits, 1);
  EXPECT_EQ(table.row(0)[1].bits, 3);
  ASSERT_EQ(table.row(1).size(), 1u);
  EXPECT_EQ(table.row(1)[0].bits, 1);
}

TEST(Ordering, MarksOfEqualTimeStayAsTheyCame) {
  Recording recording;
  recording.memory.resize(3);
  for (std::size_t i = 0; i < 3; ++i)
    recording.memory.time_ns[i] = i == 0 ? 9 : 5, recording.memory.bytes[i] = static_cast<std::int64_t>(i);
  recording.steps = {{7, 1}, {3, 2}, {3, 4}};
  order_marks(recording);
  EXPECT_EQ(recording.memory.bytes[0], 1);
  EXPECT_EQ(recording.memory.bytes[1], 2);
  EXPECT_EQ(recording.memory.bytes[2], 0);
  EXPECT_EQ(recording.steps[1].step, 4);
}

}  // namespace
}  // namespace mindtorch::trace

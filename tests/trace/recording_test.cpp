// Look-ups in a Recording.
#include "mindtorch/trace/recording.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>

#include "mindtorch/trace/builder.h"

namespace mindtorch::trace {
namespace {

TEST(Recording, TheTrackOfAnEventIsFoundAcrossEmptyTracks) {
  RecordingBuilder builder;
  for (int i = 0; i < 5; ++i) builder.add_thread(100 + i);
  for (const TrackId track : {1u, 1u, 3u}) builder.add_event({.name = "op", .track = track});
  const Recording recording = builder.finish();
  EXPECT_EQ(recording.track_of(0), 1u);
  EXPECT_EQ(recording.track_of(1), 1u);
  EXPECT_EQ(recording.track_of(2), 3u);
}

TEST(Recording, AStepLastsFromItsMarkToTheNext) {
  Recording recording;
  recording.steps = {{100, 1}, {200, 2}};
  EXPECT_EQ(recording.step_at(99), 0);
  EXPECT_EQ(recording.step_at(100), 1);
  EXPECT_EQ(recording.step_at(199), 1);
  EXPECT_EQ(recording.step_at(1000), 2);
}

TEST(Recording, ASideTableFindsOnlyTheRowsItHas) {
  SideTable<std::int64_t> table;
  table.add(3, std::array<std::int64_t, 2>{7, 8});
  table.add(9, std::array<std::int64_t, 1>{5});
  EXPECT_EQ(table.find(3).size(), 2u);
  EXPECT_EQ(table.find(9)[0], 5);
  EXPECT_TRUE(table.find(0).empty());
  EXPECT_TRUE(table.find(4).empty());
  EXPECT_TRUE(table.find(10).empty());
}

TEST(Recording, EventsMayShareARowOfValues) {
  SharedTable<std::int64_t> table, copy;
  const std::uint32_t row = table.add_shared_row(std::array<std::int64_t, 2>{7, 8});
  table.share(3, row);
  table.add(5, std::array<std::int64_t, 1>{5});
  table.share(9, row);
  EXPECT_EQ(table.find(9)[1], 8);
  EXPECT_EQ(table.find(5)[0], 5);
  EXPECT_TRUE(table.find(4).empty());
  EXPECT_EQ(table.values.size(), 3u);
  // Tables are equal if their events have equal values, shared or not.
  for (std::size_t k = 0; k < 3; ++k) copy.add(table.events[k], table.row(k));
  EXPECT_EQ(copy, table);
  copy.values.back() = 9;
  EXPECT_NE(copy, table);
}

TEST(Recording, ResizeKeepsAllColumnsOfOneLength) {
  Recording recording;
  recording.events.resize(3);
  recording.memory.resize(2);
  EventColumns::for_each([](const auto& column) { EXPECT_EQ(column.size(), 3u); }, recording.events);
  MemoryColumns::for_each([](const auto& column) { EXPECT_EQ(column.size(), 2u); }, recording.memory);
}

TEST(Recording, RowsAreAddedSetAndAppendedInAllColumns) {
  const EventColumns::Row first{
      .start_ns = 1, .duration_ns = 2, .name = 3, .link = 4, .device = {DeviceType::kNpu, 5}, .kind = EventKind::kKernel, .flags = kAsync};
  EventColumns one, two;
  one.push_back(first);
  two.resize(1);
  two.set(0, first);
  EXPECT_EQ(one, two);
  one.append(two);
  ASSERT_EQ(one.size(), 2u);
  EventColumns::for_each([](const auto& column, const auto& value) { EXPECT_TRUE(column[0] == value && column[1] == value); }, one, first);
}

TEST(Recording, ForEachVisitsEveryField) {
  EXPECT_EQ(EventColumns::field_count(), 7u);
  EXPECT_EQ(MemoryColumns::field_count(), 7u);
  EXPECT_EQ(EventColumns::row_bytes(), 32u) << "a column that for_each() does not visit is not counted";
  EXPECT_EQ(MemoryColumns::row_bytes(), 46u);
}

TEST(JoinManyLosses, AddsUpWhatIsOfOneReasonAndDetailAndLeavesFewRowsAsTheyAre) {
  std::vector<Loss> losses{{LossReason::kBudget, 1, "thread 1", "full"}};
  join_many_losses(losses);
  EXPECT_EQ(losses.size(), 1u);
  for (std::uint64_t i = 1; i <= 100; ++i) losses.push_back({LossReason::kUnfinished, i, fmt::format("thread {}", i), "open"});
  join_many_losses(losses);
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_EQ(losses[0].where, "thread 1");
  EXPECT_EQ(losses[1].count, 5050u);
  EXPECT_EQ(losses[1].where, "100 threads or streams");
  EXPECT_EQ(losses[1].detail, "open");
}

}  // namespace
}  // namespace mindtorch::trace

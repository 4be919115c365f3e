// RecordingBuilder: whatever order things come in, the invariants hold and side data stays with its event.
#include "mindtorch/trace/builder.h"

#include <gtest/gtest.h>

#include <random>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/invariants.h"

namespace mindtorch::trace {
namespace {

TEST(Builder, EventsAreGroupedByTrackAndSortedByStartLongerFirst) {
  RecordingBuilder builder;
  const TrackId a = builder.add_thread(10), b = builder.add_thread(20);
  builder.add_event({.name = "b2", .track = b, .start_ns = 20});
  builder.add_event({.name = "inner", .track = a, .start_ns = 5, .duration_ns = 1});
  builder.add_event({.name = "outer", .track = a, .start_ns = 5, .duration_ns = 9});
  builder.add_event({.name = "b1", .track = b, .start_ns = 10});
  std::vector<EventIndex> index;
  const Recording recording = builder.finish(&index);
  EXPECT_EQ(index, (std::vector<EventIndex>{3, 1, 0, 2}));
  EXPECT_EQ(recording.name(0), "outer");
  EXPECT_EQ(recording.name(1), "inner");
  EXPECT_EQ(recording.name(2), "b1");
  EXPECT_EQ(recording.tracks[1].first_event, 2u);
  EXPECT_EQ(recording.tracks[1].number, 2u);
}

TEST(Builder, EqualEventsStayInTheOrderTheyCame) {
  RecordingBuilder builder;
  const TrackId track = builder.add_thread(1);
  builder.add_event({.name = "later", .track = track, .start_ns = 2});
  for (const char* name : {"x", "y", "z"}) builder.add_event({.name = name, .track = track, .start_ns = 1});
  const Recording recording = builder.finish();
  EXPECT_EQ(recording.name(0), "x");
  EXPECT_EQ(recording.name(1), "y");
  EXPECT_EQ(recording.name(2), "z");
}

TEST(Builder, SideDataFollowsItsEvent) {
  RecordingBuilder builder;
  const TrackId track = builder.add_thread(1);
  const auto late = builder.add_event({.name = "late", .track = track, .start_ns = 9});
  const auto early = builder.add_event({.name = "early", .track = track, .start_ns = 1});
  const std::vector<Input> one{{.kind = Input::Kind::kInt, .integer = 1}}, two{{.kind = Input::Kind::kInt, .integer = 2}};
  builder.set_inputs(early, one);
  builder.set_inputs(late, one);
  builder.set_inputs(late, two);
  builder.add_attribute(late, "bytes", std::int64_t{7});
  builder.add_attribute(early, "ratio", 0.5);
  builder.add_attribute(late, "text", std::string_view("value"));
  const Frame frame{builder.intern("file.py"), builder.intern("main"), 3};
  builder.set_stack(late, {&frame, 1});
  const Recording recording = builder.finish();
  EXPECT_EQ(decode_inputs(recording.inputs.find(0)), one);
  EXPECT_EQ(decode_inputs(recording.inputs.find(1)), two);
  ASSERT_EQ(recording.attributes.find(1).size(), 2u);
  EXPECT_EQ(recording.attributes.find(1)[0].bits, 7);
  EXPECT_EQ(recording.names[static_cast<std::size_t>(recording.attributes.find(1)[1].bits)], "value");
  EXPECT_EQ(recording.attributes.find(0)[0].type, Attribute::Type::kDouble);
  ASSERT_EQ(recording.stacks.of_event.find(1).size(), 1u);
  EXPECT_TRUE(recording.stacks.of_event.find(0).empty());
}

TEST(Builder, RandomOrderGivesTheSameRecordingAsSortedOrder) {
  std::mt19937 random(7);
  std::vector<EventDraft> drafts;
  for (int i = 0; i < 5000; ++i)
    drafts.push_back({.name = i % 2 ? "a" : "b", .track = static_cast<TrackId>(i % 3), .start_ns = i * 2, .duration_ns = i % 5});
  const auto build = [&] {
    RecordingBuilder builder;
    builder.intern("a"), builder.intern("b");
    for (int t = 0; t < 3; ++t) builder.add_thread(t);
    for (const EventDraft& draft : drafts) builder.add_attribute(builder.add_event(draft), "start", draft.start_ns);
    return builder.finish();
  };
  const Recording sorted = build();
  std::ranges::shuffle(drafts, random);
  EXPECT_EQ(build(), sorted);
  EXPECT_EQ(check_invariants(sorted), "");
}

TEST(Builder, MemoryEventsAndStepsAreSortedByTime) {
  RecordingBuilder builder;
  const TrackId track = builder.add_thread(1);
  builder.add_memory(20, track, {}, 0xA, -4, 0, 8);
  builder.add_memory(10, track, {}, 0xA, 4, 4, 8);
  builder.add_sample(20, 1, track, {}, ThreadState::kSleeps);
  builder.add_sample(10, 1, track, {}, ThreadState::kRunning);
  builder.add_step(5, 2);
  builder.add_step(3, 1);
  const Recording recording = builder.finish();
  EXPECT_EQ(recording.memory.bytes[0], 4);
  EXPECT_EQ(recording.memory.bytes[1], -4);
  EXPECT_EQ(recording.samples.state[0], ThreadState::kRunning);
  EXPECT_EQ(recording.samples.state[1], ThreadState::kSleeps);
  EXPECT_EQ(recording.step_at(4), 1);
}

TEST(Builder, WrongArgumentsAreRefused) {
  RecordingBuilder builder;
  EXPECT_THROW(builder.add_event({.name = "x", .track = 0}), InvalidArgument);
  const TrackId track = builder.add_stream({DeviceType::kNpu, 1}, 7);
  EXPECT_THROW(builder.add_event({.name = "x", .track = track, .duration_ns = -1}), InvalidArgument);
  EXPECT_THROW(builder.add_event({.name = "x", .track = track, .start_ns = INT64_MAX, .duration_ns = 1}), InvalidArgument);
  EXPECT_THROW(builder.set_inputs(0, {}), InvalidArgument);
  EXPECT_THROW(builder.set_stack(0, {}), InvalidArgument);
  EXPECT_THROW(builder.add_attribute(0, "k", std::int64_t{1}), InvalidArgument);
  EXPECT_THROW(builder.add_memory(0, 9, {}, 0, 0, 0, 0), InvalidArgument);
  EXPECT_THROW(builder.add_sample(0, 1, 9, {}, ThreadState::kRunning), InvalidArgument);
}

TEST(Builder, IsEmptyAfterFinishAndAnEmptyRecordingIsValid) {
  RecordingBuilder builder;
  builder.add_event({.name = "x", .track = builder.add_thread(1)});
  builder.recording().trace_id = "id";
  EXPECT_EQ(builder.finish().trace_id, "id");
  EXPECT_EQ(builder.finish(), Recording{});
}

TEST(Builder, FinishNamesTheInvariantThatWasBroken) {
  RecordingBuilder builder;
  builder.recording().metadata["key"] = "not json";
  EXPECT_THROW(builder.finish(), InvalidArgument);
}

}  // namespace
}  // namespace mindtorch::trace

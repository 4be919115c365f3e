// append(): two sessions of one process become one recording.
#include "mindtorch/trace/append.h"

#include <gtest/gtest.h>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/invariants.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {
namespace {

Recording session(std::int64_t base_unix_ns, const std::vector<std::string>& names, std::int64_t other_thread) {
  RecordingBuilder builder;
  builder.intern(names[0] + "only");  // so that equal names have different ids in the two sessions
  const TrackId main = builder.add_thread(1), other = builder.add_thread(other_thread);
  for (const std::string& name : names) {
    const auto event = builder.add_event({.name = name, .track = main, .start_ns = 100, .duration_ns = 10});
    const std::vector<Input> inputs{{.kind = Input::Kind::kText, .text = builder.intern("text")}};
    builder.set_inputs(event, inputs);
    builder.add_attribute(event, "key", std::string_view(name));
    const Frame frame{builder.intern("file"), builder.intern("function"), 4};
    builder.set_stack(event, {&frame, 1});
  }
  builder.add_event({.name = "other", .track = other, .start_ns = 50});
  builder.add_memory(60, other, {}, 1, 2, 3, 4);
  const Frame frame{builder.intern("file"), builder.intern(names[0]), 5};
  builder.add_sample(65, 7, other, {&frame, 1}, ThreadState::kSleeps);
  builder.add_step(70, base_unix_ns);
  Recording& r = builder.recording();
  r.clock = {.base_unix_ns = base_unix_ns, .start_ns = 0, .end_ns = 200, .domains = {{"tsc", 3e9, base_unix_ns, 2}}};
  r.losses = {{LossReason::kBudget, 3, "thread 1", ""}};
  r.metadata["who"] = std::to_string(base_unix_ns);
  r.options.activities = {DeviceType::kCpu};
  r.options.sampling_interval_ns = base_unix_ns;
  r.memory_tags = {{80, 1, MemoryCategory::kInput}};
  r.memory_baselines = {{{}, base_unix_ns, 0}};
  return builder.finish();
}

TEST(Append, ToAnEmptyRecordingIsACopy) {
  const Recording next = session(1000, {"mul"}, 2);
  Recording into;
  append(into, next);
  EXPECT_EQ(into, next);
}

// Comparing each thread with all others would take minutes.
TEST(Append, ManyThreadsAreJoinedInLinearTime) {
  constexpr int kThreads = 300'000;
  Recording many;
  for (int i = 0; i < kThreads; ++i) many.tracks.push_back({.id = i, .number = static_cast<std::uint32_t>(i + 1)});
  Recording into = many;
  append(into, many);
  EXPECT_EQ(into.tracks, many.tracks);
}

TEST(Append, TracksNamesTimesAndSideDataAreMapped) {
  Recording into = session(1000, {"mul", "add"}, 2);
  append(into, session(5000, {"sub", "mul"}, 3));
  ASSERT_EQ(check_invariants(into), "");
  ASSERT_EQ(into.tracks.size(), 3u);  // thread 1 is the same, 2 and 3 are not
  EXPECT_EQ(into.tracks[0].event_count, 4u);
  EXPECT_EQ(into.name(2), "sub");
  EXPECT_EQ(into.events.start_ns[2], 4100);
  EXPECT_EQ(into.names[static_cast<std::size_t>(into.attributes.find(3)[0].bits)], "mul");
  EXPECT_EQ(into.names[decode_inputs(into.inputs.find(3))[0].text], "text");
  EXPECT_EQ(into.stacks.size(), 3u);
  EXPECT_EQ(into.stacks.of_event.events.size(), 4u);
  EXPECT_EQ(into.memory.time_ns[1], 4060);
  EXPECT_EQ(into.memory.track[1], 2u);
  EXPECT_EQ(into.samples.time_ns[1], 4065);
  EXPECT_EQ(into.samples.duration_ns[1], 7);
  EXPECT_EQ(into.samples.track[1], 2u);
  EXPECT_EQ(into.samples.state[1], ThreadState::kSleeps);
  EXPECT_EQ(into.names[into.stacks.frames[into.stacks.frames_of(into.samples.stack[1])[0]].function], "sub");
  EXPECT_EQ(into.step_at(4070), 5000);
  EXPECT_EQ(into.memory_tags[1].time_ns, 4080);
}

TEST(Append, SummariesAddUp) {
  Recording into = session(1000, {"mul"}, 2);
  append(into, session(5000, {"mul"}, 2));
  EXPECT_EQ(into.clock.end_ns, 4200);
  EXPECT_EQ(into.clock.base_unix_ns, 1000);
  ASSERT_EQ(into.clock.domains.size(), 1u);
  EXPECT_EQ(into.clock.domains[0].error_bound_ns, 5000);
  EXPECT_EQ(into.clock.domains[0].samples, 4u);
  ASSERT_EQ(into.losses.size(), 1u);
  EXPECT_EQ(into.losses[0].count, 6u);
  EXPECT_EQ(into.metadata["who"], "5000");
  EXPECT_EQ(into.options.activities.size(), 1u);
  EXPECT_EQ(into.options.sampling_interval_ns, 5000);
  EXPECT_EQ(into.memory_baselines[0].allocated, 1000);
}

TEST(Append, ADeviceIsListedOnce) {
  Recording into = session(1000, {"mul"}, 2), next = session(5000, {"mul"}, 2);
  into.devices = {{{DeviceType::kNpu, 0}, "first", {}}};
  next.devices = {{{DeviceType::kNpu, 0}, "again", {}}, {{DeviceType::kNpu, 1}, "second", {{"totalGlobalMem", 5}}}};
  append(into, next);
  EXPECT_EQ(into.devices, (std::vector<DeviceProperties>{into.devices[0], next.devices[1]}));
  EXPECT_EQ(into.devices[0].name, "first");
}

TEST(Append, ARecycledThreadIdIsAnotherTrack) {
  Recording into = session(1000, {"mul"}, 2), next = session(5000, {"mul"}, 2);
  next.tracks[1].number = 9;
  append(into, next);
  EXPECT_EQ(into.tracks.size(), 3u);
}

TEST(Append, OverlappingSessionsAreMergedByTime) {
  Recording into = session(1000, {"mul"}, 2);
  append(into, session(950, {"add"}, 2));
  EXPECT_EQ(check_invariants(into), "");
  EXPECT_EQ(into.name(0), "add");
  EXPECT_EQ(into.clock.start_ns, -50);
}

TEST(Append, TimesThatDoNotFitAreRefused) {
  Recording into = session(INT64_MIN + 1, {"mul"}, 2);
  EXPECT_THROW(append(into, session(INT64_MAX, {"mul"}, 2)), InvalidArgument);
}

}  // namespace
}  // namespace mindtorch::trace

// Events of unwanted kinds go, with everything that hangs on them; the rest stays as it was.
#include "mindtorch/trace/keep_kinds.h"

#include <gmock/gmock.h>

#include <array>

#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/invariants.h"

namespace mindtorch::trace {
namespace {

using ::testing::ElementsAre;

KindSet kinds(std::initializer_list<EventKind> list) {
  KindSet set;
  for (const EventKind kind : list) set.set(static_cast<std::size_t>(kind));
  return set;
}

std::vector<std::string> names(const Recording& recording) {
  std::vector<std::string> list;
  for (EventIndex i = 0; i < recording.events.size(); ++i) list.emplace_back(recording.name(i));
  return list;
}

// Two threads: a scope around two ops with shapes and stacks on each.
Recording two_threads() {
  RecordingBuilder builder;
  for (const int thread : {1, 2}) {
    const TrackId track = builder.add_thread(thread);
    builder.add_event({.name = "scope", .kind = EventKind::kScope, .track = track, .start_ns = 0, .duration_ns = 100});
    for (const std::int64_t start : {10, 50}) {
      const auto op = builder.add_event({.name = "op", .kind = EventKind::kOp, .track = track, .start_ns = start, .duration_ns = 10});
      builder.set_inputs(op, std::array{Input{.kind = Input::Kind::kInt, .integer = start}});
      builder.set_stack(op, std::array{Frame{builder.intern("file"), builder.intern("function"), static_cast<std::int32_t>(start)}});
      builder.add_attribute(op, "key", start);
    }
  }
  return builder.finish();
}

TEST(KeepKinds, RemovesEventsAndKeepsTheirSideDataWithThem) {
  Recording recording = two_threads();
  keep_kinds(recording, kinds({EventKind::kOp}));
  EXPECT_EQ(check_invariants(recording), "");
  EXPECT_THAT(names(recording), ElementsAre("op", "op", "op", "op"));
  EXPECT_EQ(recording.tracks[1].first_event, 2u);
  EXPECT_EQ(recording.tracks[1].event_count, 2u);
  EXPECT_EQ(recording.attributes.find(3).front().bits, 50);
  EXPECT_EQ(recording.inputs.events.size(), 4u);
  EXPECT_EQ(recording.stacks.of_event.events.size(), 4u);
}

TEST(KeepKinds, SideDataOfRemovedEventsGoes) {
  Recording recording = two_threads();
  keep_kinds(recording, kinds({EventKind::kScope}));
  EXPECT_EQ(check_invariants(recording), "");
  EXPECT_THAT(names(recording), ElementsAre("scope", "scope"));
  EXPECT_TRUE(recording.inputs.empty());
  EXPECT_TRUE(recording.attributes.empty());
  EXPECT_TRUE(recording.stacks.of_event.empty());
}

TEST(KeepKinds, AllKindsChangeNothingAndNoneLeaveAnEmptyRecording) {
  const Recording original = two_threads();
  Recording recording = original;
  keep_kinds(recording, KindSet().set());
  EXPECT_EQ(recording, original);
  keep_kinds(recording, KindSet());
  EXPECT_EQ(check_invariants(recording), "");
  EXPECT_TRUE(names(recording).empty());
}

}  // namespace
}  // namespace mindtorch::trace

// check_invariants() finds each way a Recording can be broken.
#include "mindtorch/trace/invariants.h"

#include <gtest/gtest.h>

#include <functional>

#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {
namespace {

Recording sound() {
  RecordingBuilder builder;
  const TrackId a = builder.add_thread(1), b = builder.add_thread(2);
  for (int i = 0; i < 4; ++i) {
    const auto event = builder.add_event({.name = "op", .track = i < 2 ? a : b, .start_ns = i * 10, .duration_ns = 5});
    const std::vector<Input> inputs{{.kind = Input::Kind::kText, .text = builder.intern("text")}};
    builder.set_inputs(event, inputs);
    builder.add_attribute(event, "key", std::string_view("value"));
    const Frame frame{builder.intern("file"), builder.intern("function"), i};
    builder.set_stack(event, {&frame, 1});
    builder.add_memory(i, a, {}, 1, 1, 1, 1);
    builder.add_sample(i, 1, a, {&frame, 1}, ThreadState::kRunning);
    builder.add_step(i, i);
  }
  Recording recording = builder.finish();
  recording.memory_tags = {{1, 1, MemoryCategory::kInput}, {2, 1, MemoryCategory::kInput}};
  recording.metadata["key"] = R"({"a":1})";
  return recording;
}

TEST(Invariants, ASoundRecordingHasNothingToSay) {
  EXPECT_EQ(check_invariants(sound()), "");
  EXPECT_EQ(check_invariants(Recording{}), "");
}

TEST(Invariants, EachKindOfDamageIsNamed) {
  const std::vector<std::pair<const char*, std::function<void(Recording&)>>> damages = {
      {"columns differ", [](Recording& r) { r.events.flags.pop_back(); }},
      {"memory columns differ", [](Recording& r) { r.memory.bytes.pop_back(); }},
      {"names[0]", [](Recording& r) { r.names[0] = "x"; }},
      {"names[0]", [](Recording& r) { r.names.clear(); }},
      {"does not start where", [](Recording& r) { r.tracks[1].first_event = 1; }},
      {"the tracks hold", [](Recording& r) { r.tracks[1].event_count = 9; }},
      {"lasts", [](Recording& r) { r.events.duration_ns[1] = -1; }},
      {"lasts", [](Recording& r) { r.events.duration_ns[1] = INT64_MAX; }},
      {"has name", [](Recording& r) { r.events.name[3] = 99; }},
      {"unknown kind", [](Recording& r) { r.events.kind[0] = static_cast<EventKind>(200); }},
      {"out of order", [](Recording& r) { std::swap(r.events.start_ns[0], r.events.start_ns[1]); }},
      {"out of order", [](Recording& r) { r.events.start_ns[0] = r.events.start_ns[1], r.events.duration_ns[0] = 1; }},
      {"offsets of the inputs", [](Recording& r) { r.inputs.offsets.back() += 1; }},
      {"inputs are not sorted", [](Recording& r) { r.inputs.events[1] = r.inputs.events[0]; }},
      {"belong to no event", [](Recording& r) { r.inputs.events[3] = 4; }},
      {"malformed", [](Recording& r) { r.inputs.values[0] = 5; }},
      {"malformed", [](Recording& r) { r.inputs.values[2] = 99; }},
      {"offsets of the attributes", [](Recording& r) { r.attributes.shared.pop_back(); }},
      {"row that does not exist", [](Recording& r) { r.attributes.shared[0] = 99; }},
      {"has key", [](Recording& r) { r.attributes.values[0].key = 99; }},
      {"has text", [](Recording& r) { r.attributes.values[0].bits = -1; }},
      {"unknown type", [](Recording& r) { r.attributes.values[0].type = static_cast<Attribute::Type>(9); }},
      {"offsets of the stacks", [](Recording& r) { r.stacks.offsets.back() = 99; }},
      {"frame that does not exist", [](Recording& r) { r.stacks.frame_ids[0] = 99; }},
      {"frame has a name", [](Recording& r) { r.stacks.frames[0].file = 99; }},
      {"stack that does not exist", [](Recording& r) { r.stacks.of_event.values[0] = 99; }},
      {"more or less than one stack", [](Recording& r) { r.stacks.of_event.offsets[1] = 2; }},
      {"memory events are not sorted", [](Recording& r) { r.memory.time_ns[0] = 99; }},
      {"lies on no track", [](Recording& r) { r.memory.track[0] = 99; }},
      {"tags are not sorted", [](Recording& r) { r.memory_tags[0].time_ns = 99; }},
      {"unknown category", [](Recording& r) { r.memory_tags[0].category = static_cast<MemoryCategory>(99); }},
      {"sample columns differ", [](Recording& r) { r.samples.state.pop_back(); }},
      {"samples are not sorted", [](Recording& r) { r.samples.time_ns[0] = 99; }},
      {"stands for", [](Recording& r) { r.samples.duration_ns[1] = -1; }},
      {"stands for", [](Recording& r) { r.samples.duration_ns[1] = INT64_MAX; }},
      {"sample 2 lies on track 99", [](Recording& r) { r.samples.track[2] = 99; }},
      {"sample 2 has stack 99", [](Recording& r) { r.samples.stack[2] = 99; }},
      {"sample 3 has an unknown state", [](Recording& r) { r.samples.state[3] = static_cast<ThreadState>(kThreadStates); }},
      {"step marks are not sorted", [](Recording& r) { r.steps[0].time_ns = 99; }},
      {"not JSON", [](Recording& r) { r.metadata["key"] = "{"; }},
  };
  for (const auto& [sentence, damage] : damages) {
    Recording recording = sound();
    damage(recording);
    EXPECT_NE(check_invariants(recording).find(sentence), std::string::npos) << sentence << " vs " << check_invariants(recording);
  }
}

}  // namespace
}  // namespace mindtorch::trace

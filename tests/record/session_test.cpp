// Sessions: what is recorded between start and stop, and the errors of a wrong order of calls.
#include "mindtorch/record/session.h"

#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "mindtorch/record/hooks.h"
#include "mindtorch/record/input_writer.h"
#include "mindtorch/trace/inputs.h"
#include "tests/record/recorded.h"

namespace mindtorch::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

using SessionTest = RecordedTest;

TEST_F(SessionTest, RecordsNestedScopesOuterBeforeInnerWithTheirTimes) {
  auto session = started();
  clock_.advance(100);
  {
    NamedScope outer("outer");
    clock_.advance(5);
    scope("inner", 7);
    clock_.advance(3);
  }
  const trace::Recording recording = stopped(*session);
  ASSERT_THAT(event_names(recording), ElementsAre("outer", "inner"));
  EXPECT_EQ(recording.events.start_ns[0], 100);
  EXPECT_EQ(recording.events.duration_ns[0], 15);
  EXPECT_EQ(recording.events.start_ns[1], 105);
  EXPECT_EQ(recording.events.duration_ns[1], 7);
  EXPECT_EQ(recording.events.kind[0], trace::EventKind::kScope);
  EXPECT_TRUE(recording.losses.empty());
}

TEST_F(SessionTest, RecordsNothingBeforeStartAfterStopOrWhileToggledOff) {
  scope("before");
  auto session = started();
  scope("a");
  session->toggle_events(false);
  scope("hidden");
  session->toggle_events(true);
  scope("b");
  const trace::Recording recording = stopped(*session);
  scope("after");
  EXPECT_THAT(event_names(recording), ElementsAre("a", "b"));
}

TEST_F(SessionTest, AScopeOpenAtStopIsReportedAsUnfinishedAndEndsAtTheStop) {
  auto session = started();
  NamedScope open("open");
  clock_.advance(40);
  const trace::Recording recording = stopped(*session);
  ASSERT_EQ(recording.events.size(), 1u);
  EXPECT_EQ(recording.events.flags[0] & trace::kUnfinished, trace::kUnfinished);
  EXPECT_EQ(recording.events.duration_ns[0], 40);
  ASSERT_EQ(recording.losses.size(), 1u);
  EXPECT_EQ(recording.losses[0].reason, trace::LossReason::kUnfinished);
  EXPECT_EQ(recording.losses[0].count, 1u);
}

TEST_F(SessionTest, AScopeThatOutlivesItsSessionDoesNotTouchTheNextOne) {
  auto first = started();
  NamedScope open("of the first session");
  OpScope op(intern("op of the first session"));
  first->stop();
  first.reset();
  auto second = started();
  for (int i = 0; i < 10; ++i) {
    NamedScope inner("of the second session");
    if (i == 5) open.close();
    clock_.advance(1);
  }
  const trace::Recording recording = stopped(*second);
  ASSERT_EQ(recording.events.size(), 10u);
  for (trace::EventIndex i = 0; i < 10; ++i) EXPECT_EQ(recording.events.duration_ns[i], 1);
}

TEST_F(SessionTest, AScopeClosedOnAnotherThreadIsMarkedAndKeepsItsOwnTimes) {
  auto session = started();
  NamedScope travelling("async");
  clock_.advance(10);
  scope("sibling", 5);
  std::thread([&] {
    scope("elsewhere", 1);
    NamedScope arrived = std::move(travelling);
  }).join();
  const trace::Recording recording = stopped(*session);
  ASSERT_EQ(recording.tracks.size(), 2u);
  ASSERT_EQ(recording.name(0), "async");
  EXPECT_EQ(recording.events.duration_ns[0], 16);
  EXPECT_EQ(recording.events.flags[0], trace::kAsync);
  EXPECT_TRUE(recording.losses.empty());
}

TEST_F(SessionTest, EveryThreadIsATrackWithItsIdAndSurvivesItsThread) {
  auto session = started();
  for (int i = 0; i < 3; ++i) std::thread([&] { scope("work"); }).join();
  scope("main");
  const trace::Recording recording = stopped(*session);
  ASSERT_EQ(recording.tracks.size(), 4u);
  std::set<std::uint32_t> numbers;
  for (const trace::Track& track : recording.tracks) {
    numbers.insert(track.number);
    EXPECT_GT(track.id, 0);
  }
  EXPECT_EQ(numbers.size(), 4u);
}

TEST_F(SessionTest, ASecondSessionIsRefusedAndTheFirstGoesOn) {
  auto session = started();
  scope("a");
  EXPECT_THAT([&] { Session::prepare({}); }, ThrowsMessage<Error>(HasSubstr("[record.prepare] another profiling session is active")));
  scope("b");
  EXPECT_THAT(event_names(stopped(*session)), ElementsAre("a", "b"));
  session.reset();
  EXPECT_NO_THROW(started()->stop());
}

TEST_F(SessionTest, CallsInTheWrongOrderSayWhatIsWrong) {
  auto session = Session::prepare({});
  EXPECT_THAT([&] { session->stop(); }, ThrowsMessage<Error>("[record.stop] the session was never started"));
  EXPECT_THAT([&] { session->mark_step(1); }, ThrowsMessage<Error>("[record.mark_step] the session is not running"));
  session->start();
  EXPECT_THAT([&] { session->start(); }, ThrowsMessage<Error>("[record.start] the session was started already"));
  session->stop();
  EXPECT_THAT([&] { session->stop(); }, ThrowsMessage<Error>("[record.stop] the session was stopped already"));
}

TEST_F(SessionTest, ADestroyedSessionFreesTheProcessForTheNext) {
  started();
  Session::prepare({});
  EXPECT_EQ(current_state(), 0u);
  EXPECT_NO_THROW(started()->stop());
}

TEST_F(SessionTest, StepMarksSayWhichStepATimeBelongsTo) {
  auto session = started();
  session->mark_step(0);
  scope("a");
  session->mark_step(1);
  scope("b");
  EXPECT_THROW(session->mark_step(1), InvalidArgument);
  const trace::Recording recording = stopped(*session);
  EXPECT_EQ(recording.step_at(recording.events.start_ns[0]), 0);
  EXPECT_EQ(recording.step_at(recording.events.start_ns[1]), 1);
}

TEST_F(SessionTest, ArgumentsAttributesAndMemoryHangOnTheirEvents) {
  auto session = started({.shapes = true, .memory = true});
  const std::int64_t sizes[] = {2, 3}, strides[] = {1, 2};
  {
    OpScope op(intern("aten::add"), known({DeviceType::kNpu, 1}), trace::make_sequence_link(41));
    ASSERT_TRUE(op.wants(kShapes));
    {
      InputWriter inputs(op);
      inputs.tensor(trace::ScalarType::kFloat, sizes, strides, 2, false);
      inputs.text("mean");
      inputs.real(0.5);
      inputs.tensor_without_strides(trace::ScalarType::kFloat, sizes, 2);
      inputs.tensor_list(1);
      inputs.list_tensor_without_strides(trace::ScalarType::kFloat, sizes, 1);
    }
    add_attribute(op.slot(), intern("bytes"), std::int64_t{24});
    add_attribute(op.slot(), intern("algorithm"), std::string_view("tree"));
    record_memory({DeviceType::kCpu, 0}, sizes, 64, 64, 128);
  }
  const trace::Recording recording = stopped(*session);
  const std::vector<trace::Input> inputs = trace::decode_inputs(recording.inputs.find(0));
  ASSERT_EQ(inputs.size(), 5u);
  EXPECT_EQ(inputs[0].sizes, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(inputs[0].strides, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(recording.names[inputs[1].text], "mean");
  EXPECT_EQ(inputs[2].real, 0.5);
  EXPECT_EQ(inputs[3].sizes, (std::vector<std::int64_t>{2, 3}));
  EXPECT_TRUE(inputs[3].strides.empty());
  EXPECT_EQ(inputs[4].list.at(0).sizes, (std::vector<std::int64_t>{2}));
  EXPECT_TRUE(inputs[4].list.at(0).strides.empty());
  const auto attributes = recording.attributes.find(0);
  ASSERT_EQ(attributes.size(), 2u);
  EXPECT_EQ(recording.names[attributes[0].key], "bytes");
  EXPECT_EQ(attributes[0].bits, 24);
  EXPECT_EQ(recording.names[static_cast<trace::NameId>(attributes[1].bits)], "tree");
  ASSERT_EQ(recording.memory.size(), 1u);
  EXPECT_EQ(recording.memory.total_reserved[0], 128);
  EXPECT_EQ(recording.events.device[0], (trace::Device{DeviceType::kNpu, 1}));
  EXPECT_EQ(trace::sequence_of(recording.events.link[0]), 41);
}

TEST_F(SessionTest, WithoutTheirFlagsNoSideDataIsAskedFor) {
  auto session = started();
  {
    OpScope op(intern("aten::add"));
    EXPECT_FALSE(op.wants(kShapes));
    record_memory({}, this, 64, 64, 64);
  }
  const trace::Recording recording = stopped(*session);
  EXPECT_TRUE(recording.inputs.empty());
  EXPECT_EQ(recording.memory.size(), 0u);
}

TEST_F(SessionTest, ASessionLimitedToItsThreadRecordsOnlyItAndThoseItAdmits) {
  auto session = started({.all_threads = false});
  scope("main");
  const ThreadAdmission admission = ThreadAdmission::capture();
  std::thread([&] { scope("stranger"); }).join();
  std::thread([&] {
    admission.apply();
    scope("engine");
  }).join();
  const trace::Recording recording = stopped(*session);
  EXPECT_THAT(event_names(recording), ElementsAre("main", "engine"));
  EXPECT_TRUE(recording.losses.empty());
}

TEST_F(SessionTest, ASteppedWallClockDoesNotReorderEvents) {
  auto session = started();
  scope("a", 2'000'000);
  clock_.step_wall_clock(-3'600'000'000'000);
  scope("b", 2'000'000);
  const trace::Recording recording = stopped(*session);
  EXPECT_THAT(event_names(recording), ElementsAre("a", "b"));
  EXPECT_EQ(recording.events.start_ns[1] - recording.events.start_ns[0], 2'000'000);
}

TEST_F(SessionTest, IntervalsReportedLateAreSortedIn) {
  auto session = started();
  clock_.advance(100);
  const std::uint64_t begin = now_ticks();
  clock_.advance(10);
  scope("short", 5);
  record_interval(intern("long"), trace::EventKind::kOp, begin, now_ticks());
  EXPECT_THAT(event_names(stopped(*session)), ElementsAre("long", "short"));
}

}  // namespace
}  // namespace mindtorch::record

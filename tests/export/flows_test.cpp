// Flows: the same ends that torch connects.
#include "mindtorch/export/flows.h"

#include <gmock/gmock.h>

#include "mindtorch/analyze/ranks/merge_ranks.h"
#include "mindtorch/trace/builder.h"
#include "tests/support/sample_recordings.h"

namespace mindtorch::exporter {
namespace {

using testing::ElementsAre;

std::vector<std::string> arrows(const trace::Recording& recording, const std::vector<Flow>& flows) {
  std::vector<std::string> texts;
  for (const Flow& flow : flows) {
    texts.push_back(std::to_string(flow.id) + " " + std::string(recording.name(flow.from)) + " -> " + std::string(recording.name(flow.to)));
  }
  return texts;
}

TEST(Flows, EachAutogradNodeIsJoinedWithTheInnermostOpOfItsSequenceNumber) {
  const trace::Recording recording = tests::cpu_recording();
  EXPECT_THAT(arrows(recording, forward_backward_flows(recording)),
              ElementsAre("1 aten::relu -> ReluBackward0", "2 aten::addmm -> AddmmBackward0", "3 aten::relu -> ReluBackward0",
                          "4 aten::addmm -> AddmmBackward0"));
}

TEST(Flows, ANodeWhoseForwardOpWasNotRecordedHasNoArrow) {
  trace::RecordingBuilder builder;
  const auto track = builder.add_thread(1);
  builder.add_event({.name = "aten::mul", .track = track, .start_ns = 1, .duration_ns = 1, .link = trace::make_sequence_link(5)});
  builder.add_event({.name = "MulBackward0",
                     .kind = trace::EventKind::kBackward,
                     .track = track,
                     .start_ns = 5,
                     .duration_ns = 1,
                     .link = trace::make_sequence_link(5, 2)});  // another thread's
  builder.add_event({.name = "AddBackward0",
                     .kind = trace::EventKind::kBackward,
                     .track = track,
                     .start_ns = 9,
                     .duration_ns = 1,
                     .link = trace::make_sequence_link(6, 1)});
  EXPECT_TRUE(forward_backward_flows(builder.finish()).empty());
}

TEST(Flows, AnArrowEndsAtTheInnermostEventOfTheFirstEvaluation) {
  trace::RecordingBuilder builder;
  const auto track = builder.add_thread(1);
  const auto link = trace::make_sequence_link(5, 1);
  const auto node = [&](const char* name, std::int64_t start, std::int64_t duration) {
    builder.add_event(
        {.name = name, .kind = trace::EventKind::kBackward, .track = track, .start_ns = start, .duration_ns = duration, .link = link});
  };
  builder.add_event({.name = "aten::mul", .track = track, .start_ns = 1, .duration_ns = 1, .link = trace::make_sequence_link(5)});
  node("evaluation", 5, 4);
  node("first", 6, 2);
  node("evaluation", 15, 4);
  node("second", 16, 2);
  const trace::Recording recording = builder.finish();
  EXPECT_THAT(arrows(recording, forward_backward_flows(recording)), ElementsAre("1 aten::mul -> first"));
}

TEST(Flows, EachDeviceActivityIsJoinedWithItsLaunch) {
  const trace::Recording recording = tests::device_recording(trace::DeviceType::kCuda);
  const std::vector<Flow> flows = launch_flows(analyze::Analysis(recording));
  ASSERT_EQ(flows.size(), 15U);
  for (const Flow& flow : flows) {
    EXPECT_EQ(recording.name(flow.from), "cudaLaunchKernel");
    EXPECT_EQ(recording.events.link[flow.from], flow.id);
    EXPECT_EQ(recording.events.link[flow.to], flow.id);
  }
}

TEST(Flows, ArrowsOfAutogradHaveOtherIdsThanLaunches) {
  constexpr trace::Device kNpu{trace::DeviceType::kNpu, 0};
  trace::RecordingBuilder builder;
  const auto thread = builder.add_thread(1);
  const auto stream = builder.add_stream(kNpu, 7, "", 1);
  using trace::EventKind;
  builder.add_event({.name = "aten::mul", .track = thread, .start_ns = 1, .duration_ns = 4, .link = trace::make_sequence_link(5)});
  builder.add_event({.name = "launch", .kind = EventKind::kRuntime, .track = thread, .start_ns = 2, .duration_ns = 1, .link = 41});
  builder.add_event(
      {.name = "mul", .kind = EventKind::kKernel, .track = stream, .start_ns = 3, .duration_ns = 1, .link = 41, .device = kNpu});
  builder.add_event({.name = "MulBackward0",
                     .kind = EventKind::kBackward,
                     .track = thread,
                     .start_ns = 9,
                     .duration_ns = 1,
                     .link = trace::make_sequence_link(5, 1)});
  const trace::Recording recording = builder.finish();
  EXPECT_THAT(arrows(recording, launch_flows(analyze::Analysis(recording))), ElementsAre("41 launch -> mul"));
  EXPECT_THAT(arrows(recording, forward_backward_flows(recording)), ElementsAre("42 aten::mul -> MulBackward0"));
}

TEST(Flows, TheRankThatEntersACollectiveFirstPointsToTheOthers) {
  trace::RecordingBuilder builder;
  const std::vector<std::pair<const char*, std::int64_t>> ranks = {{"late", 30}, {"first", 10}, {"second", 20}};
  for (const auto& [name, start] : ranks) {
    const auto track = builder.add_thread(start);
    const auto event =
        builder.add_event({.name = name, .kind = trace::EventKind::kScope, .track = track, .start_ns = start, .duration_ns = 5});
    builder.add_attribute(event, analyze::kCollectiveFlowKey, std::int64_t{7});
  }
  const trace::Recording recording = builder.finish();
  EXPECT_THAT(arrows(recording, collective_flows(recording)), ElementsAre("1 first -> second", "2 first -> late"));
  EXPECT_TRUE(collective_flows(tests::cpu_recording()).empty());
}

}  // namespace
}  // namespace mindtorch::exporter

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

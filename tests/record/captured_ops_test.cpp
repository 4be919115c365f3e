// Captured ops: what is learned from one recording comes back in a later one that replays the graph, once and from every batch.
#include "mindtorch/record/captured_ops.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "mindtorch/trace/builder.h"

namespace mindtorch::record {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;
using trace::EventKind;

constexpr std::uint64_t kCall = 7;

// An op with a call in it, and another call that is not captured.
trace::Recording capturing() {
  trace::RecordingBuilder builder;
  const trace::TrackId thread = builder.add_thread(12, "python", 1);
  builder.add_event({.name = "conv", .kind = EventKind::kOp, .track = thread, .start_ns = 10, .duration_ns = 100});
  builder.add_event(
      {.name = "cudaLaunchKernel", .kind = EventKind::kRuntime, .track = thread, .start_ns = 20, .duration_ns = 10, .link = kCall});
  builder.add_event(
      {.name = "cudaFree", .kind = EventKind::kRuntime, .track = thread, .start_ns = 200, .duration_ns = 10, .link = kCall + 1});
  return builder.finish();
}

SourceBatch captures(std::uint32_t recording) {
  SourceBatch batch;
  batch.batch.captures = {.recording = recording, .captured = {kCall}, .replayed = {}};
  return batch;
}

SourceBatch replays(std::uint32_t recording, std::uint32_t captured_in) {
  SourceBatch batch;
  batch.batch.captures = {.recording = recording, .captured = {}, .replayed = {captured_call_key(captured_in, kCall)}};
  return batch;
}

std::vector<std::string> names(const trace::Recording& recording) {
  std::vector<std::string> found;
  for (trace::EventIndex i = 0; i < recording.events.size(); ++i) found.emplace_back(recording.name(i));
  return found;
}

void learn(std::uint32_t number) {
  trace::Recording recording = capturing();
  const std::size_t events = recording.events.size();
  add_captured_ops({captures(number)}, recording);
  EXPECT_EQ(recording.events.size(), events) << "what was captured here is in its place already";
}

TEST(CapturedOps, AReplayBringsTheCallAndTheOpsAroundIt) {
  learn(101);
  trace::Recording later;
  add_captured_ops({replays(102, 101)}, later);
  EXPECT_THAT(names(later), UnorderedElementsAre("conv", "cudaLaunchKernel (captured)"));
  ASSERT_EQ(later.tracks.size(), 1u);
  EXPECT_EQ(later.tracks[0].name, "captured by thread 12");
  for (trace::EventIndex i = 0; i < later.events.size(); ++i) {
    if (trace::is_launch_kind(later.events.kind[i])) {
      EXPECT_EQ(later.events.link[i], captured_call_key(101, kCall));
    }
  }
}

TEST(CapturedOps, EverySnapshotOfASessionHasTheReplaysOfAllItsBatches) {
  learn(111);
  const std::vector<SourceBatch> batches = {replays(112, 111), captures(113)};
  trace::Recording first = capturing(), second = capturing();
  add_captured_ops(batches, first);
  add_captured_ops(batches, second);
  EXPECT_EQ(names(first), names(second));
  trace::Recording later;
  add_captured_ops({replays(114, 113)}, later);
  EXPECT_EQ(later.events.size(), 2u) << "the batch was learned once, although two snapshots held it";
}

TEST(CapturedOps, AnUnknownCallBringsNothing) {
  trace::Recording recording;
  add_captured_ops({replays(122, 121)}, recording);
  EXPECT_THAT(names(recording), IsEmpty());
}

}  // namespace
}  // namespace mindtorch::record

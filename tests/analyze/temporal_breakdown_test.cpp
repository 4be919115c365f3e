// Temporal breakdown: work that overlaps counts once, kernels before other work.
#include "mindtorch/analyze/temporal_breakdown.h"

#include <gmock/gmock.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TemporalBreakdown, WorkAtTheSameTimeCountsOnceAndKernelsComeFirst) {
  Maker maker;
  maker.kernel("gemm", 100, 50, 1);
  maker.kernel("relu", 120, 50, 2);                                      // 100..170 is computing
  maker.kernel("allreduce", 160, 40, 3, trace::EventKind::kCollective);  // 170..200 is not
  maker.kernel("Memcpy HtoD", 250, 10, 4, trace::EventKind::kMemcpy);    // after 50 of nothing
  maker.kernel("inside", 130, 5, 5);
  maker.kernel("wait", 0, 1000, 6, trace::EventKind::kSync);  // no work
  maker.op("aten::mm", 0, 5000);
  const trace::Recording recording = maker.finish();
  EXPECT_THAT(temporal_breakdown(recording),
              ElementsAre(TemporalBreakdown{.device = kNpu0, .span_ns = 160, .compute_ns = 70, .non_compute_ns = 40, .idle_ns = 50}));
}

TEST(TemporalBreakdown, EachDeviceHasItsOwn) {
  trace::RecordingBuilder builder;
  for (const std::uint8_t index : {std::uint8_t{1}, std::uint8_t{0}}) {
    const trace::Device device{trace::DeviceType::kCuda, index};
    const trace::TrackId stream = builder.add_stream(device, 7);
    builder.add_event(
        {.name = "k", .kind = trace::EventKind::kKernel, .track = stream, .start_ns = 10, .duration_ns = 5 + index, .device = device});
  }
  const auto breakdowns = temporal_breakdown(builder.finish());
  ASSERT_EQ(breakdowns.size(), 2u);
  EXPECT_EQ(breakdowns[0].compute_ns, 5);
  EXPECT_EQ(breakdowns[1].compute_ns, 6);
}

TEST(TemporalBreakdown, WithoutDeviceWorkThereIsNone) {
  Maker maker;
  maker.op("aten::mm", 0, 10);
  EXPECT_THAT(temporal_breakdown(maker.finish()), IsEmpty());
}

}  // namespace
}  // namespace mindtorch::analyze

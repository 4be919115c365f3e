// What a recording shows of work on an NPU: the op, its launch, its kernel, its memory.
#include <gmock/gmock.h>

#include <map>

#include "mindtorch/record/session.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/sources/reference/reference_source.h"
#include "mindtorch/trace/invariants.h"
#include "runtime/tests/npu_device.h"

namespace mindtorch::testing {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::Recording;

const TensorOptions kThere{.device = kNPU};
const trace::Device kTraceNpu{trace::DeviceType::kNpu, 0};

Recording record(const std::function<void()>& work) {
  auto session = record::Session::prepare({.memory = true, .sources = {&sources::reference_source()}});
  EXPECT_THAT(session->source_problems(), ::testing::IsEmpty());
  session->start();
  work();
  Recording recording = session->stop();
  EXPECT_EQ(trace::check_invariants(recording), "");
  EXPECT_THAT(recording.losses, ::testing::IsEmpty());
  return recording;
}

std::vector<EventIndex> events(const Recording& recording, EventKind kind, std::string_view name) {
  std::vector<EventIndex> found;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    if (recording.events.kind[i] == kind && recording.name(i) == name) found.push_back(i);
  }
  return found;
}

bool contains(const Recording& recording, EventIndex outer, EventIndex inner) {
  return recording.track_of(outer) == recording.track_of(inner) && recording.events.start_ns[outer] <= recording.events.start_ns[inner] &&
         recording.events.end_ns(inner) <= recording.events.end_ns(outer);
}

class NpuProfileTest : public NpuTest {};

TEST_F(NpuProfileTest, ShowsTheOpItsLaunchAndItsKernelLinked) {
  const Tensor x = ones({2, 2}, kThere);
  const Recording recording = record([&] { x + x; });
  const auto ops = events(recording, EventKind::kOp, "aten::add");
  const auto launches = events(recording, EventKind::kRuntime, "npuLaunchKernel");
  const auto kernels = events(recording, EventKind::kKernel, "add");
  ASSERT_EQ(ops.size(), 1u);
  ASSERT_EQ(launches.size(), 1u);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(recording.events.device[ops[0]], kTraceNpu);
  EXPECT_TRUE(recording.events.flags[ops[0]] & trace::kKnownDevice);
  EXPECT_TRUE(contains(recording, ops[0], launches[0]));
  EXPECT_EQ(recording.events.link[launches[0]], recording.events.link[kernels[0]]);
  const trace::Track& track = recording.tracks[recording.track_of(kernels[0])];
  EXPECT_EQ(track.kind, trace::Track::Kind::kStream);
  EXPECT_EQ(track.device, kTraceNpu);
  EXPECT_EQ(track.id, 1);
}

TEST_F(NpuProfileTest, ShowsThatMemoryWasZeroed) {
  const Tensor x = ones({2, 3}, kThere);
  const Recording recording = record([&] {
    x.zero_();
    x.select(1, 1).zero_();
  });
  EXPECT_EQ(events(recording, EventKind::kMemset, "Memset (Device)").size(), 1u);
  EXPECT_EQ(events(recording, EventKind::kKernel, "zero_").size(), 1u) << "memory with holes needs a kernel";
}

TEST_F(NpuProfileTest, ShowsCopiesWithTheirBytes) {
  const Tensor here = ones({100});
  const Recording recording = record([&] { here.to(kNPU).to(kCPU); });
  for (const char* name : {"Memcpy HtoD (Pageable -> Device)", "Memcpy DtoH (Device -> Pageable)"}) {
    const auto copies = events(recording, EventKind::kMemcpy, name);
    ASSERT_EQ(copies.size(), 1u) << name;
    const auto attributes = recording.attributes.find(copies[0]);
    ASSERT_EQ(attributes.size(), 1u);
    EXPECT_EQ(recording.names[attributes[0].key], "bytes");
    EXPECT_EQ(attributes[0].bits, 400);
  }
}

TEST_F(NpuProfileTest, ShowsBackwardKernelsInsideTheirNodesOnTheEnginesThread) {
  const Tensor x = ones({3}, {.device = kNPU, .requires_grad = true});
  const Recording recording = record([&] { (x * x).sum().backward(); });
  const auto nodes = events(recording, EventKind::kBackward, "autograd::engine::evaluate_function: MulBackward0");
  ASSERT_EQ(nodes.size(), 1u);
  int kernels_inside = 0;
  for (const EventIndex launch : events(recording, EventKind::kRuntime, "npuLaunchKernel"))
    kernels_inside += contains(recording, nodes[0], launch);
  EXPECT_GE(kernels_inside, 2) << "a product for each of the two inputs";
}

TEST_F(NpuProfileTest, ShowsEachAllocationOnTheDeviceWithTotals) {
  npu::synchronize();
  const std::int64_t before = npu::memory_allocated();
  const Recording recording = record([&] { const Tensor x = empty({1000}, kThere); });
  std::vector<std::int64_t> bytes, totals;
  for (std::size_t i = 0; i < recording.memory.size(); ++i) {
    if (recording.memory.device[i] != kTraceNpu) continue;
    bytes.push_back(recording.memory.bytes[i]);
    totals.push_back(recording.memory.total_allocated[i]);
  }
  EXPECT_THAT(bytes, ::testing::ElementsAre(4096, -4096));
  EXPECT_THAT(totals, ::testing::ElementsAre(before + 4096, before));
}

}  // namespace
}  // namespace mindtorch::testing

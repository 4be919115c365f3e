// The CUPTI source where the contract of sources says nothing: what records hold, and how many are kept.
#include "mindtorch/sources/cupti/cupti_source.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>

#include "mindtorch/record/hooks.h"
#include "mindtorch/record/session.h"
#include "mindtorch/sources/cupti/api_names.h"
#include "mindtorch/trace/invariants.h"
#include "tests/doubles/cupti/cupti_double.h"

namespace mindtorch::sources::cupti {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using trace::EventIndex;
using trace::EventKind;
using trace::LossReason;
using trace::Recording;

void launch(const char* name, std::uint32_t stream = 7) {
  const CuptiDoubleWork work{.stream = stream, .name = name, .grid = {4, 2, 1}, .block = {128, 1, 1}};
  cupti_double_issue(&work);
}

void run_op(const char* op_name, const char* kernel) {
  record::OpScope op(record::intern(op_name));
  launch(kernel);
}

class CuptiSourceTest : public testing::Test {
 protected:
  CuptiSourceTest() {
    ::setenv("MINDTORCH_LIBRARY_PATH", "cuda=" CUDA_DRIVER_DOUBLE, 1);
    cupti_double_reset();
  }
  ~CuptiSourceTest() override { EXPECT_STREQ(cupti_double_violations(), ""); }

  std::unique_ptr<record::Session> started(record::SessionOptions options = {}) {
    options.sources = {&source_};
    auto session = record::Session::prepare(std::move(options));
    session->start();
    return session;
  }
  static Recording stopped(record::Session& session) {
    Recording recording = session.stop();
    EXPECT_EQ(trace::check_invariants(recording), "");
    return recording;
  }

  CuptiSource source_;
};

std::vector<EventIndex> events_of(const Recording& recording, EventKind kind) {
  std::vector<EventIndex> found;
  for (EventIndex i = 0; i < recording.events.size(); ++i)
    if (recording.events.kind[i] == kind) found.push_back(i);
  return found;
}

std::map<std::string, std::string> attributes_of(const Recording& recording, EventIndex event) {
  std::map<std::string, std::string> found;
  for (const trace::Attribute& attribute : recording.attributes.find(event)) {
    const bool is_text = attribute.type == trace::Attribute::Type::kText || attribute.type == trace::Attribute::Type::kJson;
    found[recording.names[attribute.key]] =
        is_text ? recording.names[static_cast<std::size_t>(attribute.bits)] : std::to_string(attribute.bits);
  }
  return found;
}

std::map<LossReason, std::uint64_t> losses_of(const Recording& recording) {
  std::map<LossReason, std::uint64_t> counts;
  for (const trace::Loss& loss : recording.losses) counts[loss.reason] += loss.count;
  return counts;
}

TEST_F(CuptiSourceTest, NamesKernelsReadablyAndKeepsHowTheyWereLaunched) {
  auto session = started();
  run_op("aten::mul", "_Z10mul_kernelPfS_i");
  const Recording recording = stopped(*session);
  EXPECT_THAT(recording.losses, IsEmpty());
  const auto kernels = events_of(recording, EventKind::kKernel);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(recording.name(kernels[0]), "mul_kernel(float*, float*, int)");
  auto attributes = attributes_of(recording, kernels[0]);
  EXPECT_EQ(attributes["grid"], "[4, 2, 1]");
  EXPECT_EQ(attributes["block"], "[128, 1, 1]");
  EXPECT_EQ(recording.metadata.at("cupti_version"), "130001");
  ASSERT_FALSE(recording.devices.empty());
  EXPECT_EQ(recording.devices[0].device, (trace::Device{trace::DeviceType::kCuda, 0}));
  EXPECT_THAT(recording.devices[0].name, HasSubstr("GPU of the tests"));
  EXPECT_EQ(recording.devices[0].numbers[0].key, "totalGlobalMem");
}

TEST_F(CuptiSourceTest, SaysOfCopiesAndSetsWhatTheyMoved) {
  auto session = started();
  const CuptiDoubleWork copy{.activity_kind = kMemcpy, .bytes = 4096, .copy_kind = kHostToDevice};
  const CuptiDoubleWork set{.activity_kind = kMemset, .bytes = 512};
  cupti_double_issue(&copy);
  cupti_double_issue(&set);
  const Recording recording = stopped(*session);
  ASSERT_EQ(events_of(recording, EventKind::kMemcpy).size(), 1u);
  ASSERT_EQ(events_of(recording, EventKind::kMemset).size(), 1u);
  EXPECT_EQ(recording.name(events_of(recording, EventKind::kMemcpy)[0]), "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(attributes_of(recording, events_of(recording, EventKind::kMemcpy)[0])["bytes"], "4096");
  EXPECT_EQ(recording.name(events_of(recording, EventKind::kMemset)[0]), "Memset (Device)");
}

TEST_F(CuptiSourceTest, DrawsTheSpanOfAScopeOnTheDevice) {
  auto session = started();
  {
    record::NamedScope scope("forward");
    run_op("aten::a", "a");
    run_op("aten::b", "b");
  }
  launch("outside");
  const Recording recording = stopped(*session);
  const auto scopes = events_of(recording, EventKind::kDeviceScope);
  ASSERT_EQ(scopes.size(), 1u);
  EXPECT_EQ(recording.name(scopes[0]), "forward");
  for (const EventIndex kernel : events_of(recording, EventKind::kKernel)) {
    const bool inside = recording.events.start_ns[kernel] >= recording.events.start_ns[scopes[0]] &&
                        recording.events.end_ns(kernel) <= recording.events.end_ns(scopes[0]);
    EXPECT_EQ(inside, recording.name(kernel) != "outside");
  }
}

TEST_F(CuptiSourceTest, NamesTheCallThatWasCapturedForEachKernelOfAGraph) {
  auto session = started();
  cupti_double_begin_capture(7);
  run_op("aten::mul", "mul_kernel");
  void* executable = cupti_double_instantiate_graph(cupti_double_end_capture(7));
  cupti_double_launch_graph(executable, 7);
  const Recording recording = stopped(*session);
  const auto kernels = events_of(recording, EventKind::kKernel);
  ASSERT_EQ(kernels.size(), 1u);
  const std::string captured = attributes_of(recording, kernels[0])["capture correlation"];
  EXPECT_THAT(events_of(recording, EventKind::kRuntime),
              Contains(testing::Truly([&](EventIndex call) { return std::to_string(recording.events.link[call]) == captured; })));
}

TEST_F(CuptiSourceTest, KeepsNoMoreRecordsThanTheBudgetHolds) {
  auto session = started({.budget = {.bytes = std::int64_t{4} << 20}});
  for (int i = 0; i < 60'000; ++i) launch("kernel");
  const Recording recording = stopped(*session);
  const auto kept = events_of(recording, EventKind::kKernel).size() + events_of(recording, EventKind::kRuntime).size();
  EXPECT_LT(kept, 110'000u);
  const std::uint64_t dropped = losses_of(recording)[LossReason::kDeviceDropped];
  EXPECT_GE(kept + dropped, 120'000u);
  EXPECT_LE(kept + dropped, 120'001u) << "the source's own wait for the device is a call too";
}

TEST_F(CuptiSourceTest, SwitchesOffEveryCallOfTheDriverThatIsNotWorthKeeping) {
  ASSERT_TRUE(source_.probe());
  auto session = started();
  cupti_double_call(1, 307);  // cuLaunchKernel
  cupti_double_call(1, 719);  // one that the double has no name for
  const Recording recording = stopped(*session);
  EXPECT_EQ(events_of(recording, EventKind::kDriver).size(), 1u);
}

TEST(CuptiApiNames, LoseTheirVersions) {
  EXPECT_EQ(plain_api_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(plain_api_name("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(plain_api_name("cuLaunchKernel"), "cuLaunchKernel");
  EXPECT_TRUE(causes_device_work("cudaLaunchKernelExC"));
  EXPECT_FALSE(causes_device_work("cudaMemcpyAsync")) << "a copy of zero bytes leaves no record";
}

}  // namespace
}  // namespace mindtorch::sources::cupti

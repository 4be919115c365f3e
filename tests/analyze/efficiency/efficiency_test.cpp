// Efficiency of recordings that were made by hand. Tests mindtorch/analyze/efficiency/modelled_calls, device_limits.
#include "mindtorch/analyze/efficiency/efficiency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::analyze {
namespace {

using testing::HasSubstr;
using trace::EventKind;
using trace::Input;
using trace::ScalarType;

constexpr trace::Device kCuda{trace::DeviceType::kCuda, 0};

Input tensor(std::vector<std::int64_t> sizes, ScalarType dtype) {
  return {.kind = Input::Kind::kTensor, .dtype = dtype, .sizes = std::move(sizes)};
}

// Ops on one thread, each of which may launch kernels on one stream.
class Program {
 public:
  using Id = trace::RecordingBuilder::DraftId;

  Program() : thread_(builder_.add_thread(100)) {}

  Id event(std::string_view name, EventKind kind, std::int64_t start, std::int64_t duration, std::uint64_t link = 0) {
    return builder_.add_event({.name = name, .kind = kind, .track = thread_, .start_ns = start, .duration_ns = duration, .link = link});
  }
  Id op(std::string_view name, std::int64_t start, std::int64_t duration, const std::vector<Input>& inputs = {},
        std::int64_t sequence = -1) {
    const Id id = event(name, EventKind::kOp, start, duration, sequence < 0 ? 0 : trace::make_sequence_link(sequence));
    if (!inputs.empty()) builder_.set_inputs(id, inputs);
    return id;
  }
  void step(std::int64_t number, std::int64_t start, std::int64_t duration) {
    event(trace::step_name(number), EventKind::kStep, start, duration, trace::make_step_link(number));
  }
  // Launched at `launched`, inside of the op that is open then.
  void kernel(std::string_view name, std::int64_t launched, std::int64_t start, std::int64_t duration) {
    event("cudaLaunchKernel", EventKind::kRuntime, launched, 1, ++correlation_);
    work(name, EventKind::kKernel, start, duration, correlation_);
  }
  Id work(std::string_view name, EventKind kind, std::int64_t start, std::int64_t duration, std::uint64_t correlation) {
    if (!has_stream_) stream_ = builder_.add_stream(kCuda, 7);
    has_stream_ = true;
    return builder_.add_event(
        {.name = name, .kind = kind, .track = stream_, .start_ns = start, .duration_ns = duration, .link = correlation, .device = kCuda});
  }
  trace::RecordingBuilder& builder() { return builder_; }

  trace::Recording finish(std::string device = "NVIDIA H200") {
    trace::Recording recording = builder_.finish();
    if (has_stream_) recording.devices.push_back({.device = kCuda, .name = std::move(device), .numbers = {{"numSms", 132}}});
    return recording;
  }

 private:
  trace::RecordingBuilder builder_;
  trace::TrackId thread_;
  trace::TrackId stream_ = 0;
  bool has_stream_ = false;
  std::uint64_t correlation_ = 0;
};

std::vector<Input> product(std::int64_t size, ScalarType dtype) { return {tensor({size, size}, dtype), tensor({size, size}, dtype)}; }

Efficiency efficiency_of(const trace::Recording& recording, const KnownPeaks& peaks = {}) {
  const Analysis analysis(recording);
  return find_efficiency(analysis, peaks);
}

TEST(Efficiency, ABigProductOnAnH200) {
  Program program;
  program.step(1, 0, 2'000'000);
  program.op("aten::mm", 1000, 100, product(8192, ScalarType::kBFloat16));
  program.kernel("nvjet_tst_256x128", 1010, 2000, 1'361'900);
  const Efficiency found = efficiency_of(program.finish());
  ASSERT_EQ(found.ops.size(), 1);
  const WorkAtLimit& row = found.ops[0];
  EXPECT_EQ(row.work.flops, 2.0 * 8192 * 8192 * 8192);
  EXPECT_EQ(row.work.bytes, 3.0 * 8192 * 8192 * 2);
  EXPECT_EQ(row.unit, trace::ComputeUnit::kBFloat16);
  EXPECT_FALSE(row.work.is_bound_by_memory());
  EXPECT_NEAR(row.work.share_of_limit(), 0.816, 0.0005);
  EXPECT_NEAR(row.work.tflops(), 807.3, 0.1);
  EXPECT_NEAR(row.work.above_limit_ns(), 1'361'900 - 1'111'291, 100);
  EXPECT_EQ(row.explanation, "");
  EXPECT_NEAR(*found.mfu, 1'111'291.0 / 2'000'000, 0.0001);
  EXPECT_EQ(found.mfu, found.hfu);
  EXPECT_EQ(found.modelled_share(), 1);
  ASSERT_EQ(found.kernels.size(), 1);
  EXPECT_EQ(found.kernels[0].name, "nvjet_tst_256x128");
  EXPECT_EQ(found.kernels[0].work.flops, row.work.flops);
}

TEST(Efficiency, ACopyIsBoundByMemory) {
  Program program;
  const std::int64_t elements = 1 << 28;
  program.op("aten::copy_", 0, 100, {tensor({elements}, ScalarType::kFloat), tensor({elements}, ScalarType::kFloat)});
  program.kernel("copy_kernel", 10, 2000, 500'000);
  const Efficiency found = efficiency_of(program.finish());
  ASSERT_EQ(found.ops.size(), 1);
  EXPECT_TRUE(found.ops[0].work.is_bound_by_memory());
  EXPECT_NEAR(found.ops[0].work.tbytes(), 4.295, 0.001);
  EXPECT_NEAR(found.ops[0].work.share_of_limit(), 4.295 / 4.8, 0.001);
  EXPECT_FALSE(found.mfu.has_value());  // there are no steps
}

TEST(Efficiency, WorkOverTheBusHasNoLimitHere) {
  Program program;
  program.op("aten::copy_", 0, 100, {tensor({1024}, ScalarType::kFloat), tensor({1024}, ScalarType::kFloat)});
  program.event("cudaMemcpyAsync", EventKind::kRuntime, 10, 5, 77);
  program.work("Memcpy HtoD (Pageable -> Device)", EventKind::kMemcpy, 20, 1000, 77);
  const Efficiency found = efficiency_of(program.finish());
  EXPECT_TRUE(found.ops.empty());
  ASSERT_EQ(found.without_model.size(), 1);
  EXPECT_EQ(found.without_model[0].name, "aten::copy_");
  EXPECT_EQ(found.without_model[0].time_ns, 1000);
}

TEST(Efficiency, Float32IsComparedWithTheUnitThatItsKernelsName) {
  Program program;
  program.op("aten::mm", 0, 100, product(1024, ScalarType::kFloat));
  program.kernel("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n", 10, 200, 1000'000);
  program.op("aten::mm", 200, 100, product(2048, ScalarType::kFloat));
  program.kernel("ampere_sgemm_128x128_nn", 210, 2'000'000, 1000'000);
  const Efficiency found = efficiency_of(program.finish());
  ASSERT_EQ(found.ops.size(), 2);
  for (const WorkAtLimit& row : found.ops)
    EXPECT_EQ(row.unit, row.shapes.starts_with("[[1024") ? trace::ComputeUnit::kTf32 : trace::ComputeUnit::kFloat32) << row.shapes;
}

TEST(Efficiency, AboveAHundredPercentIsToldAndNotClipped) {
  Program program;
  program.op("aten::mm", 0, 100, product(8192, ScalarType::kBFloat16));
  program.kernel("gemm", 10, 2000, 1'000'000);
  program.op("aten::mul", 200, 100, {tensor({1 << 20}, ScalarType::kFloat), tensor({1 << 20}, ScalarType::kFloat)});
  program.kernel("mul", 210, 2'000'000, 1000);
  const Efficiency found = efficiency_of(program.finish());
  ASSERT_EQ(found.ops.size(), 2);
  for (const WorkAtLimit& row : found.ops) {
    EXPECT_GT(row.work.share_of_limit(), 1.1);
    EXPECT_LT(row.work.above_limit_ns(), 0);
    EXPECT_THAT(row.explanation, HasSubstr(row.name == "aten::mm" ? "FLOPs than were computed" : "fits into the cache (50 MB)"));
  }
}

TEST(Efficiency, WhatHasNoModelIsListedWithItsTime) {
  Program program;
  program.op("mylib::magic", 0, 100, product(64, ScalarType::kFloat));
  program.kernel("magic_kernel", 10, 200, 3000);
  program.op("aten::relu", 200, 100, {tensor({1 << 20}, ScalarType::kFloat)});
  program.kernel("relu_kernel", 210, 4000, 7000);
  const Efficiency found = efficiency_of(program.finish());
  EXPECT_EQ(found.work_ns, 10000);
  EXPECT_DOUBLE_EQ(found.modelled_share(), 0.7);
  ASSERT_EQ(found.without_model.size(), 1);
  EXPECT_EQ(found.without_model[0].name, "mylib::magic");
  EXPECT_THAT(found.summary(), HasSubstr("70 % of device time has a cost model"));
}

TEST(Efficiency, WorkInsideOfAModelledOpIsCountedOnce) {
  Program program;
  const std::vector<Input> inputs = product(512, ScalarType::kFloat);
  program.op("aten::matmul", 0, 100, inputs);
  program.op("aten::mm", 10, 80, inputs);
  program.kernel("gemm", 20, 200, 30'000);
  program.op("aten::copy_", 60, 10, inputs);  // of the mm itself
  program.kernel("copy", 62, 300'000, 1000);
  const Efficiency found = efficiency_of(program.finish());
  ASSERT_EQ(found.ops.size(), 1);
  EXPECT_EQ(found.ops[0].name, "aten::mm");
  EXPECT_EQ(found.ops[0].work.time_ns, 31'000);
  EXPECT_TRUE(found.kernels.empty());  // it is not known which kernel did how much
}

TEST(Efficiency, AGraphRepeatsTheWorkOfTheOpThatWasCaptured) {
  Program program;
  program.op("aten::mm", 0, 100, product(1024, ScalarType::kBFloat16));
  program.event("cudaLaunchKernel", EventKind::kRuntime, 10, 5, 500);  // the capture: nothing runs
  const std::string capture(trace::kCaptureCorrelation);
  for (std::int64_t replay = 0; replay < 3; ++replay) {
    const std::uint64_t correlation = 600 + static_cast<std::uint64_t>(replay);
    program.event("cudaGraphLaunch", EventKind::kRuntime, 1000 + replay * 100'000, 10, correlation);
    const auto kernel = program.work("gemm", EventKind::kKernel, 2000 + replay * 100'000, 10'000, correlation);
    program.builder().add_attribute(kernel, capture, std::int64_t{500});
  }
  const Efficiency found = efficiency_of(program.finish());
  ASSERT_EQ(found.ops.size(), 1);
  EXPECT_EQ(found.ops[0].work.calls, 3);
  EXPECT_EQ(found.ops[0].work.flops, 3 * 2.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(found.ops[0].work.time_ns, 30'000);
}

TEST(Efficiency, WhatBackwardComputesAgainIsNotPartOfMfu) {
  Program program;
  const std::vector<Input> inputs = product(1024, ScalarType::kBFloat16);
  program.step(1, 0, 1'000'000);
  program.op("aten::mm", 100, 100, inputs, 5);
  program.kernel("gemm", 110, 1000, 5000);
  program.event("MmBackward0", EventKind::kBackward, 300, 500, trace::make_sequence_link(5));
  program.op("aten::mm", 310, 100, inputs, 9);  // recorded by autograd: the forward op runs again
  program.kernel("gemm", 320, 7000, 5000);
  program.op("aten::mm", 500, 100, inputs);
  program.kernel("gemm", 510, 13'000, 5000);
  const Efficiency found = efficiency_of(program.finish());
  ASSERT_TRUE(found.mfu.has_value());
  const double once = 2.0 * 1024 * 1024 * 1024 / 989.4e12 / 1e-3;
  EXPECT_NEAR(*found.mfu, 2 * once, 1e-6);
  EXPECT_NEAR(*found.hfu, 3 * once, 1e-6);
  EXPECT_THAT(found.summary(), HasSubstr("HFU"));
}

TEST(Efficiency, GradientsThatAreDifferentiatedAreNotComputedAgain) {
  Program program;
  const std::vector<Input> inputs = product(1024, ScalarType::kBFloat16);
  program.step(1, 0, 1'000'000);
  program.event("MmBackward0", EventKind::kBackward, 300, 500, trace::make_sequence_link(5));
  program.op("aten::mm", 310, 100, inputs, 9);
  program.kernel("gemm", 320, 7000, 5000);
  const Efficiency found = efficiency_of(program.finish());
  EXPECT_EQ(found.mfu, found.hfu);
}

TEST(Efficiency, BackwardBelongsToTheModuleOfItsForwardOp) {
  Program program;
  const std::vector<Input> inputs = product(256, ScalarType::kFloat);
  program.event("nn.Module: Linear_0", EventKind::kModule, 0, 200);
  program.op("aten::mm", 10, 100, inputs, 3);
  program.event("MmBackward0", EventKind::kBackward, 300, 200, trace::make_sequence_link(3));
  program.op("aten::mm", 310, 100, inputs);
  const Efficiency found = efficiency_of(program.finish());
  ASSERT_EQ(found.modules.size(), 1);
  EXPECT_EQ(found.modules[0].name, "nn.Module: Linear_0");
  EXPECT_EQ(found.modules[0].work.calls, 2);
}

TEST(Efficiency, TheCpuIsComparedWithWhatWasMeasuredOnItsMachine) {
  Program program;
  program.op("aten::mm", 0, 1'000'000, product(512, ScalarType::kFloat));
  program.op("aten::view", 2'000'000, 1000, {tensor({4}, ScalarType::kFloat)});
  trace::Recording recording = program.finish();
  EXPECT_THAT(efficiency_of(recording).summary(), HasSubstr("`mtprof peaks`"));
  trace::DevicePeaks here{.device = "a processor", .host = "machine"};
  here.tflops[static_cast<std::size_t>(trace::ComputeUnit::kFloat32)] = 0.5;
  EXPECT_THAT(efficiency_of(recording, {.devices = {here}}).summary(), HasSubstr("another CPU"));
  recording.metadata["host_name"] = "\"machine\"";
  const Efficiency found = efficiency_of(recording, {.devices = {here}});
  ASSERT_EQ(found.ops.size(), 1);
  EXPECT_NEAR(found.ops[0].work.share_of_limit(), 2.0 * 512 * 512 * 512 / 0.5e12 / 1e-3, 1e-6);
  ASSERT_EQ(found.without_model.size(), 1);
  EXPECT_FALSE(found.is_on_device);
}

TEST(Efficiency, GivenPeaksComeBeforeTheTable) {
  Program program;
  program.op("aten::mm", 0, 100, product(8192, ScalarType::kBFloat16));
  program.kernel("gemm", 10, 2000, 2'000'000);
  const trace::Recording recording = program.finish();
  trace::DevicePeaks file{.device = "NVIDIA H200"};
  file.tflops[static_cast<std::size_t>(trace::ComputeUnit::kBFloat16)] = 700;
  EXPECT_EQ(efficiency_of(recording, {.devices = {file}}).devices.at(0).peaks.of(trace::ComputeUnit::kBFloat16), 700);
  EXPECT_EQ(efficiency_of(recording, {.devices = {file}}).devices.at(0).peaks.tbytes, 4.8);
  EXPECT_EQ(
      efficiency_of(recording, {.devices = {file}, .changes = {"bfloat16=600"}}).devices.at(0).peaks.of(trace::ComputeUnit::kBFloat16),
      600);
  Program other;
  other.op("aten::mm", 0, 100, product(64, ScalarType::kBFloat16));
  other.kernel("gemm", 10, 2000, 1000);
  const Efficiency unknown = efficiency_of(other.finish("a new device"));
  EXPECT_FALSE(unknown.devices.at(0).is_known);
  EXPECT_FALSE(unknown.ops.at(0).work.has_limit());
  EXPECT_GT(unknown.ops.at(0).work.tflops(), 0);
  EXPECT_THAT(unknown.summary(), HasSubstr("--peak"));
}

TEST(Efficiency, TheClockThatRanIsTold) {
  Program program;
  program.op("aten::mm", 0, 100, product(64, ScalarType::kBFloat16));
  program.kernel("gemm", 10, 2000, 1000);
  trace::Recording recording = program.finish();
  recording.counters.push_back(
      {.name = "SM clock", .unit = "MHz", .device = kCuda, .times_ns = {0, 2100, 2200}, .values = {345, 1830, 1464}});
  const DeviceLimit limit = efficiency_of(recording).devices.at(0);
  EXPECT_EQ(limit.ran_at_mhz, 1647);  // what was measured before the work does not count
  EXPECT_DOUBLE_EQ(limit.clock_share(), 0.9);
}

TEST(Efficiency, SaysWhyNothingIsKnown) {
  EXPECT_THAT(efficiency_of(trace::RecordingBuilder().finish()).summary(), HasSubstr("no ops and no device work"));
  Program program;
  program.op("aten::mm", 0, 100);
  EXPECT_THAT(efficiency_of(program.finish()).summary(), HasSubstr("shapes were not recorded"));
}

}  // namespace
}  // namespace mindtorch::analyze

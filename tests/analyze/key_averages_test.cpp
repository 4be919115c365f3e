// Key averages: what makes a group, what each field holds, and sums that agree whatever the recording.
#include "mindtorch/analyze/key_averages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "mindtorch/analyze/events.h"
#include "mindtorch/base/error.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;

std::vector<std::string> keys(const KeyAverages& averages) {
  std::vector<std::string> keys;
  for (const Average& row : averages.rows) keys.push_back(row.key);
  return keys;
}

KeyAverages averages_of(Maker& maker, const GroupOptions& options = {}) {
  const trace::Recording recording = maker.finish();
  return key_averages(Analysis(recording), options);
}

TEST(KeyAverages, RowsComeInTheOrderOfTheirFirstEventOverAllThreads) {
  Maker maker;
  const trace::TrackId other = maker.builder().add_thread(200);
  maker.op("b", 50, 10);
  maker.op("a", 70, 10);
  maker.add({.name = "c", .track = other, .start_ns = 10, .duration_ns = 5});
  maker.add({.name = "a", .track = other, .start_ns = 20, .duration_ns = 5});
  maker.add({.name = "same start, longer", .track = other, .start_ns = 50, .duration_ns = 11});
  const KeyAverages averages = averages_of(maker);
  EXPECT_THAT(keys(averages), ElementsAre("c", "a", "same start, longer", "b"));
  EXPECT_EQ(averages.rows[1].count, 2);
  EXPECT_EQ(averages.rows[1].cpu_time_total_ns, 15);
}

TEST(KeyAverages, StepsAreOneRowAndScopesAreAnnotations) {
  Maker maker;
  maker.step(4, 0, 100);
  maker.step(5, 100, 100);
  maker.scope("forward", 10, 20);
  maker.op("forward", 110, 20);  // an op of the same name is another row
  const KeyAverages averages = averages_of(maker);
  ASSERT_THAT(keys(averages), ElementsAre("ProfilerStep*", "forward", "forward"));
  EXPECT_EQ(averages.rows[0].count, 2);
  EXPECT_TRUE(averages.rows[0].is_user_annotation);
  EXPECT_EQ(averages.rows[0].scope, 7);
  EXPECT_TRUE(averages.rows[1].is_user_annotation);
  EXPECT_FALSE(averages.rows[2].is_user_annotation);
  EXPECT_EQ(averages.rows[2].scope, 0);
  EXPECT_EQ(averages.rows[1].parent, averages.rows[0].first_event);
}

TEST(KeyAverages, TheDeviceOfAnOpSeparatesRowsWhereTheHostKnowsIt) {
  Maker maker;
  maker.add({.name = "aten::add", .start_ns = 0, .duration_ns = 5, .device = {}, .flags = trace::kKnownDevice});
  maker.add({.name = "aten::add", .start_ns = 10, .duration_ns = 5, .device = kNpu0, .flags = trace::kKnownDevice});
  maker.add({.name = "aten::add", .start_ns = 20, .duration_ns = 5, .device = {trace::DeviceType::kNpu, 1}, .flags = trace::kKnownDevice});
  const KeyAverages averages = averages_of(maker);
  ASSERT_EQ(averages.rows.size(), 2u);
  EXPECT_EQ(averages.rows[0].op_device, trace::Device{});
  EXPECT_EQ(averages.rows[1].count, 2);
  EXPECT_EQ(averages.rows[1].op_device->type, trace::DeviceType::kNpu);
  EXPECT_EQ(averages.rows[1].device_type, trace::DeviceType::kCpu);
}

TEST(KeyAverages, KernelTimeReachesTheOpsAroundTheLaunchAndTheKernelsOwnRow) {
  Maker maker;
  maker.op("aten::linear", 0, 100);
  maker.op("aten::addmm", 10, 80);
  maker.launch(20, 5, 1);
  maker.launch(30, 5, 2);
  maker.kernel("gemm", 200, 40, 1);
  maker.kernel("bias", 240, 10, 2);
  maker.kernel("forward", 190, 500, 0, trace::EventKind::kDeviceScope);
  maker.kernel("wait", 700, 50, 0, trace::EventKind::kSync);
  const KeyAverages averages = averages_of(maker);
  ASSERT_THAT(keys(averages), ElementsAre("aten::linear", "aten::addmm", "aclrtLaunchKernel", "forward", "gemm", "bias", "wait"));
  EXPECT_EQ(averages.rows[0].device_time_total_ns, 50);
  EXPECT_EQ(averages.rows[0].self_device_time_total_ns, 0);
  EXPECT_EQ(averages.rows[1].device_time_total_ns, 50);
  EXPECT_EQ(averages.rows[1].self_device_time_total_ns, 50);
  EXPECT_EQ(averages.rows[2].device_time_total_ns, 0);
  EXPECT_EQ(averages.rows[4].self_device_time_total_ns, 40);
  EXPECT_EQ(averages.rows[4].cpu_time_total_ns, 0);
  EXPECT_EQ(averages.rows[4].device_type, trace::DeviceType::kNpu);
  EXPECT_TRUE(averages.rows[3].is_user_annotation);
  EXPECT_EQ(averages.rows[6].device_time_total_ns, 50);
  EXPECT_EQ(averages.rows[6].self_device_time_total_ns, 0);
  EXPECT_EQ(averages.rows[0].use_device, "npu");
}

TEST(KeyAverages, MemoryIsCountedInsideOfEventsAndListedOutside) {
  Maker maker;
  maker.op("outer", 10, 100);
  maker.op("inner", 20, 50);
  maker.memory(30, 512);
  maker.memory(40, 64, kNpu0);
  maker.memory(90, -512);
  maker.memory(300, -64, kNpu0);
  maker.builder().recording().options.memory = true;
  const KeyAverages averages = averages_of(maker);
  ASSERT_THAT(keys(averages), ElementsAre("outer", "inner", "[memory]"));
  EXPECT_EQ(averages.rows[0].cpu_memory_usage, 0);
  EXPECT_EQ(averages.rows[0].self_cpu_memory_usage, -512);
  EXPECT_EQ(averages.rows[0].device_memory_usage, 64);
  EXPECT_EQ(averages.rows[0].self_device_memory_usage, 0);
  EXPECT_EQ(averages.rows[1].self_cpu_memory_usage, 512);
  EXPECT_EQ(averages.rows[1].self_device_memory_usage, 64);
  EXPECT_EQ(averages.rows[2].count, 1);
  EXPECT_EQ(averages.rows[2].device_memory_usage, -64);
  EXPECT_EQ(averages.rows[2].cpu_time_total_ns, 0);
  EXPECT_TRUE(averages.context.profile_memory);
}

TEST(KeyAverages, ShapesSeparateRowsOnlyWhenAskedFor) {
  Maker maker;
  maker.shapes(maker.op("aten::mm", 0, 5), {{2, 3}, {3, 4}});
  maker.shapes(maker.op("aten::mm", 10, 5), {{2, 3}, {3, 4}});
  maker.shapes(maker.op("aten::mm", 20, 5), {{2, 3}, {3, 5}});
  maker.op("aten::mm", 30, 5);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_EQ(key_averages(analysis).rows.size(), 1u);
  EXPECT_FALSE(key_averages(analysis).rows[0].input_shapes.has_value());
  const KeyAverages averages = key_averages(analysis, {.group_by_input_shape = true});
  ASSERT_EQ(averages.rows.size(), 3u);
  EXPECT_EQ(averages.rows[0].count, 2);
  EXPECT_EQ(averages.rows[0].input_shapes, (Shapes{{2, 3}, {3, 4}}));
  EXPECT_EQ(averages.rows[2].input_shapes, Shapes{});
}

TEST(KeyAverages, StacksSeparateRowsByUserFrames) {
  Maker maker;
  const Maker::Place library{"/x/site-packages/torch/nn/functional.py", 9, "linear"};
  maker.stack(maker.op("aten::mm", 0, 5), {library, {"train.py", 3, "step"}, {"train.py", 90, "main"}});
  maker.stack(maker.op("aten::mm", 10, 5), {library, {"train.py", 4, "step"}, {"train.py", 90, "main"}});
  maker.stack(maker.op("aten::mm", 20, 5), {library, {"train.py", 4, "step"}, {"train.py", 91, "main"}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_EQ(key_averages(analysis).rows.size(), 1u);
  const KeyAverages one = key_averages(analysis, {.group_by_stack_n = 1});
  ASSERT_EQ(one.rows.size(), 2u);
  EXPECT_THAT(one.rows[0].stack, ElementsAre("train.py:3:step"));
  EXPECT_EQ(one.rows[1].count, 2);
  EXPECT_EQ(key_averages(analysis, {.group_by_stack_n = 2}).rows.size(), 3u);
}

TEST(KeyAverages, OverloadsSeparateRowsOnlyWhenAskedFor) {
  Maker maker;
  maker.builder().add_attribute(maker.op("aten::add", 0, 5), "overload_name", std::string_view("Tensor"));
  maker.builder().add_attribute(maker.op("aten::add", 10, 5), "overload_name", std::string_view("out"));
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_EQ(key_averages(analysis).rows.size(), 1u);
  EXPECT_EQ(key_averages(analysis).rows[0].overload_name, "");
  const KeyAverages averages = key_averages(analysis, {.group_by_overload_name = true});
  ASSERT_EQ(averages.rows.size(), 2u);
  EXPECT_EQ(averages.rows[1].overload_name, "out");
}

TEST(KeyAverages, FlopsOfNestedOpsAreCountedOnceByTheOpThatTorchCounts) {
  Maker maker;
  maker.builder().recording().options.flops = true;
  maker.shapes(maker.op("aten::matmul", 0, 50), {{2, 3}, {3, 4}});
  maker.shapes(maker.op("aten::mm", 10, 20), {{2, 3}, {3, 4}});
  maker.shapes(maker.op("aten::mm", 60, 20), {{2, 3}, {3, 4}});
  maker.shapes(maker.op("aten::conv2d", 100, 50), {{1, 1, 3, 3}, {1, 1, 3, 3}});
  maker.shapes(maker.op("aten::convolution", 110, 30), {{1, 1, 3, 3}, {1, 1, 3, 3}});
  maker.shapes(maker.op("aten::matmul", 200, 50), {{2, 3}, {3, 4}});
  const KeyAverages averages = averages_of(maker);
  std::map<std::string, std::int64_t> flops;
  for (const Average& row : averages.rows) flops[row.key] = row.flops;
  const std::map<std::string, std::int64_t> expected = {
      {"aten::matmul", 48}, {"aten::mm", 96}, {"aten::conv2d", 18}, {"aten::convolution", 0}};
  EXPECT_EQ(flops, expected);
  EXPECT_EQ(averages.total_average().flops, 48 + 96 + 18);
  EXPECT_TRUE(averages.context.with_flops);
}

TEST(KeyAverages, AsyncEventsHaveTotalTimeOnly) {
  Maker maker;
  maker.op("op", 0, 10);
  maker.add({.name = "async", .start_ns = 5, .duration_ns = 500, .flags = trace::kAsync});
  const KeyAverages averages = averages_of(maker);
  EXPECT_TRUE(averages.rows[1].is_async);
  EXPECT_EQ(averages.rows[1].cpu_time_total_ns, 500);
  EXPECT_EQ(averages.rows[1].self_cpu_time_total_ns, 0);
  EXPECT_DOUBLE_EQ(averages.self_cpu_time_total(), 0.010);
}

TEST(KeyAverages, OnlyOutermostCallsCountAgainstTheWhole) {
  Maker maker;
  maker.op("f", 0, 100);
  maker.op("f", 10, 80);
  maker.op("f", 20, 60);
  maker.op("g", 80, 5);
  maker.op("g", 90, 5);
  const KeyAverages averages = averages_of(maker);
  ASSERT_EQ(averages.rows[0].key, "f");
  EXPECT_EQ(averages.rows[0].cpu_time_total_ns, 240);
  EXPECT_EQ(averages.rows[0].outermost_cpu_time_ns, 100);
}

TEST(KeyAverages, TheTotalAddsUpTheRowsAsTheyAre) {
  Maker maker;
  maker.op("a", 0, 10);
  maker.op("b", 20, 30);
  KeyAverages averages = averages_of(maker);
  EXPECT_EQ(averages.total_average().key, "Total");
  EXPECT_EQ(averages.total_average().count, 2);
  EXPECT_EQ(averages.total_average().self_cpu_time_total_ns, 40);
  averages.rows.pop_back();
  EXPECT_EQ(averages.total_average().self_cpu_time_total_ns, 10);
  averages.rows.clear();
  EXPECT_EQ(averages.total_average().count, 0);
  EXPECT_EQ(averages.total_average().cpu_time(), 0.0);
}

TEST(KeyAverages, AnEmptyRecordingHasNoRows) {
  const trace::Recording recording;
  EXPECT_TRUE(key_averages(Analysis(recording)).rows.empty());
}

TEST(KeyAverages, RandomRecordingsAgreeWithTheEventsOneByOne) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const trace::Recording recording = random_recording(seed, 150);
    const Analysis analysis(recording);
    const KeyAverages averages = key_averages(analysis);
    std::vector<Average> expected;  // as torch does it: the events in order, each added to the row of its key
    for (std::size_t i = 0; i < analysis.events().size(); ++i) {
      const FunctionEvent event = analysis.events()[i];
      if (event.kind() == trace::EventKind::kModule || event.kind() == trace::EventKind::kPythonFunction) continue;
      const Average row = event.as_row();
      auto found = std::ranges::find_if(
          expected, [&](const Average& e) { return e.key == row.key && e.is_user_annotation == row.is_user_annotation; });
      if (found == expected.end()) {
        expected.push_back(row);
      } else {
        found->add(row);
      }
    }
    ASSERT_EQ(averages.rows.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " row " << i);
      EXPECT_EQ(averages.rows[i].key, expected[i].key);
      EXPECT_EQ(averages.rows[i].count, expected[i].count);
      EXPECT_EQ(averages.rows[i].cpu_time_total_ns, expected[i].cpu_time_total_ns);
      EXPECT_EQ(averages.rows[i].self_cpu_time_total_ns, expected[i].self_cpu_time_total_ns);
      EXPECT_EQ(averages.rows[i].first_event, expected[i].first_event);
      EXPECT_GE(averages.rows[i].cpu_time_total_ns, averages.rows[i].self_cpu_time_total_ns);
      EXPECT_LE(averages.rows[i].outermost_cpu_time_ns, averages.rows[i].cpu_time_total_ns);
    }
  }
}

}  // namespace
}  // namespace mindtorch::analyze

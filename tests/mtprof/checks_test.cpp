// The checks of mtprof validate: a sound recording passes, each planted fault is found by its check.
#include "mtprof/checks.h"

#include <gmock/gmock.h>

#include <map>

#include "mindtorch/trace/builder.h"
#include "tests/support/sample_recordings.h"

namespace mindtorch::mtprof {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using trace::EventKind;

// Names of the checks that found something -> the first finding.
std::map<std::string, std::string> findings(const Loaded& loaded) {
  std::map<std::string, std::string> found;
  for (const Check& check : run_checks(loaded)) {
    if (check.findings > 0) found[std::string(check.name)] = check.first;
  }
  return found;
}

Loaded loaded(trace::Recording recording) {
  Loaded result;
  result.recording = std::move(recording);
  return result;
}

trace::Recording launch_and_kernel(std::int64_t kernel_start, std::uint64_t correlation) {
  trace::RecordingBuilder builder;
  const trace::Device npu{trace::DeviceType::kNpu, 0};
  const auto thread = builder.add_thread(1);
  const auto stream = builder.add_stream(npu, 1);
  builder.add_event({.name = "launch", .kind = EventKind::kRuntime, .track = thread, .start_ns = 100, .duration_ns = 10, .link = 7});
  builder.add_event(
      {.name = "kernel", .kind = EventKind::kKernel, .track = stream, .start_ns = kernel_start, .duration_ns = 10, .link = correlation});
  builder.recording().clock.end_ns = 1000;
  builder.recording().clock.domains = {{"device", 1e9, 20, 3}};
  return builder.finish();
}

TEST(Checks, OurSamplesAreSound) {
  for (auto& [name, recording] : tests::sample_recordings()) EXPECT_THAT(findings(loaded(std::move(recording))), IsEmpty()) << name;
}

TEST(Checks, EventsOfAThreadThatOverlapInPartAreFound) {
  trace::RecordingBuilder builder;
  const auto track = builder.add_thread(1);
  builder.add_event({.name = "a", .track = track, .start_ns = 0, .duration_ns = 10});
  builder.add_event({.name = "b", .track = track, .start_ns = 5, .duration_ns = 10});
  builder.recording().clock.end_ns = 100;
  const auto found = findings(loaded(builder.finish()));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found.at("nesting"), HasSubstr("'b' at 5 ns on thread 1"));
}

TEST(Checks, AKernelBeforeItsLaunchIsFoundUnlessTheClocksMayBeThatWrong) {
  EXPECT_THAT(findings(loaded(launch_and_kernel(100, 7))), IsEmpty());
  EXPECT_THAT(findings(loaded(launch_and_kernel(80, 7))), IsEmpty());
  const auto found = findings(loaded(launch_and_kernel(79, 7)));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found.at("causality"), HasSubstr("starts 21 ns before its launch"));
}

TEST(Checks, AKernelWithoutLaunchIsFound) {
  const auto found = findings(loaded(launch_and_kernel(200, 8)));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found.at("launches"), HasSubstr("correlation 8"));
}

TEST(Checks, TwoLaunchesWithOneCorrelationAreFound) {
  trace::RecordingBuilder builder;
  const auto track = builder.add_thread(1);
  for (const std::int64_t start : {0, 20})
    builder.add_event({.name = "launch", .kind = EventKind::kRuntime, .track = track, .start_ns = start, .duration_ns = 5, .link = 3});
  builder.recording().clock.end_ns = 100;
  EXPECT_EQ(findings(loaded(builder.finish())).count("ids"), 1U);
}

TEST(Checks, EventsOutsideOfTheWindowAreFound) {
  trace::RecordingBuilder builder;
  builder.add_event({.name = "late", .track = builder.add_thread(1), .start_ns = 90, .duration_ns = 20});
  builder.recording().clock.end_ns = 100;
  EXPECT_EQ(findings(loaded(builder.finish())).count("window"), 1U);
}

TEST(Checks, ArrowsWithoutAnEndStepsThatGoBackAndDamageAreFound) {
  Loaded wrong = loaded(tests::cpu_recording());
  wrong.flows = {3, 2, 1, 0};
  wrong.damage = "it ends early";
  wrong.recording.steps = {{0, 2}, {10, 2}};
  const auto found = findings(wrong);
  EXPECT_THAT(found.at("flows"), HasSubstr("1 of 3 starts"));
  EXPECT_EQ(found.at("file"), "it ends early");
  EXPECT_EQ(found.count("steps"), 1U);
}

}  // namespace
}  // namespace mindtorch::mtprof

// Analysis: parts are made once, from many threads too, and the device is found.
#include "mindtorch/analyze/analysis.h"

#include <gtest/gtest.h>

#include <thread>

#include "mindtorch/analyze/events.h"
#include "mindtorch/analyze/key_averages.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

TEST(Analysis, TheDeviceIsTheOneAskedForElseTheOneSeen) {
  Maker plain;
  plain.op("a", 0, 1);
  const trace::Recording cpu = plain.finish();
  EXPECT_EQ(Analysis(cpu).use_device(), "");

  Maker seen;
  seen.kernel("k", 0, 1, 0);
  const trace::Recording npu = seen.finish();
  EXPECT_EQ(Analysis(npu).use_device(), "npu");

  Maker asked;
  asked.builder().recording().options.activities = {trace::DeviceType::kCpu, trace::DeviceType::kCuda};
  const trace::Recording cuda = asked.finish();
  EXPECT_EQ(Analysis(cuda).use_device(), "cuda");
}

TEST(Analysis, KeepsASharedRecordingAlive) {
  Maker maker;
  maker.op("a", 0, 1);
  auto recording = std::make_shared<trace::Recording>(maker.finish());
  const Analysis analysis(recording);
  recording.reset();
  EXPECT_EQ(analysis.events()[0].name(), "a");
}

TEST(Analysis, ManyThreadsMayAskAtOnce) {
  const trace::Recording recording = random_recording(1, 2000);
  const Analysis analysis(recording);
  const std::string expected = key_averages(Analysis(recording)).table();
  std::vector<std::string> tables(8);
  std::vector<std::thread> threads;
  for (std::string& table : tables) threads.emplace_back([&] { table = key_averages(analysis).table(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& table : tables) EXPECT_EQ(table, expected);
  EXPECT_EQ(&analysis.tree(), &analysis.tree());
}

}  // namespace
}  // namespace mindtorch::analyze

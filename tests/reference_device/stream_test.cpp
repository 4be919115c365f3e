// Streams: order, overlap, errors, threads.
#include "mindtorch/reference_device/stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/powered.h"

namespace mindtorch::reference_device {
namespace {

TEST(Stream, RunsWorkInTheOrderInWhichItWasQueued) {
  Powered on;
  std::vector<int> order;
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(launch(main_stream(), "append", [&, i](const DeviceView&) { order.push_back(i); }), Result::kSuccess);
  ASSERT_EQ(synchronize(main_stream()), Result::kSuccess);
  ASSERT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Stream, ReturnsFromALaunchBeforeTheKernelHasRun) {
  Powered on;
  Gate gate;
  std::atomic<bool> ran = false;
  ASSERT_EQ(launch(main_stream(), "hold", gate.kernel()), Result::kSuccess);
  ASSERT_EQ(launch(main_stream(), "mark", [&](const DeviceView&) { ran = true; }), Result::kSuccess);
  EXPECT_FALSE(ran);
  EXPECT_EQ(query(main_stream()), Result::kNotReady);
  gate.open();
  EXPECT_EQ(synchronize(main_stream()), Result::kSuccess);
  EXPECT_TRUE(ran);
  EXPECT_EQ(query(main_stream()), Result::kSuccess);
}

TEST(Stream, RunsBesideTheOtherStreamsOfItsDevice) {
  Powered on;
  Gate gate;
  ASSERT_EQ(launch(main_stream(), "hold", gate.kernel()), Result::kSuccess);
  Stream* other = new_stream();
  ASSERT_EQ(launch(other, "open", [&](const DeviceView&) { gate.open(); }), Result::kSuccess);
  EXPECT_EQ(synchronize(main_stream()), Result::kSuccess) << "one stream could free the other";
}

TEST(Stream, LetsGoOfWhatAKernelHoldsBeforeTheWorkCountsAsDone) {
  Powered on;
  auto held = std::make_shared<int>(1);
  ASSERT_EQ(launch(main_stream(), "hold", [held](const DeviceView&) {}), Result::kSuccess);
  ASSERT_EQ(synchronize(main_stream()), Result::kSuccess);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Stream, ReportsAFailedKernelAtSynchronizeAndKeepsReportingIt) {
  Powered on;
  Gate gate;
  bool ran = false;
  ASSERT_EQ(launch(main_stream(), "hold", gate.kernel()), Result::kSuccess);
  ASSERT_EQ(launch(main_stream(), "gather", [](const DeviceView&) { throw std::out_of_range("index 7 of 5"); }), Result::kSuccess);
  ASSERT_EQ(launch(main_stream(), "after", [&](const DeviceView&) { ran = true; }), Result::kSuccess);
  gate.open();
  EXPECT_EQ(synchronize(main_stream()), Result::kKernelFailed);
  EXPECT_EQ(error_text(main_stream()), "'gather' failed on stream 1 of device 0: index 7 of 5");
  EXPECT_FALSE(ran);
  EXPECT_EQ(synchronize_device(0), Result::kKernelFailed);
  EXPECT_EQ(query(main_stream()), Result::kKernelFailed);
  EXPECT_EQ(launch(main_stream(), "late", nothing()), Result::kKernelFailed);
  EXPECT_EQ(synchronize(new_stream()), Result::kSuccess) << "other streams are well";
}

TEST(Stream, WorksAgainOnceItsErrorIsCleared) {
  Powered on;
  ASSERT_EQ(launch(main_stream(), "throw", [](const DeviceView&) { throw 1; }), Result::kSuccess);
  EXPECT_EQ(synchronize(main_stream()), Result::kKernelFailed);
  EXPECT_EQ(clear_error(main_stream()), Result::kSuccess);
  EXPECT_EQ(error_text(main_stream()), "");
  EXPECT_EQ(launch(main_stream(), "again", nothing()), Result::kSuccess);
  EXPECT_EQ(synchronize(main_stream()), Result::kSuccess);
}

TEST(Stream, FinishesItsQueueBeforeItIsDestroyed) {
  Powered on;
  Stream* stream = new_stream();
  int runs = 0;
  for (int i = 0; i < 10; ++i) ASSERT_EQ(launch(stream, "count", [&](const DeviceView&) { ++runs; }), Result::kSuccess);
  EXPECT_EQ(destroy_stream(stream), Result::kSuccess);
  EXPECT_EQ(runs, 10);
  EXPECT_EQ(destroy_stream(main_stream()), Result::kInvalidArgument) << "the default stream stays";
}

TEST(Stream, DoesNotLetAKernelWaitForTheDevice) {
  Powered on;
  Result inside = Result::kSuccess;
  ASSERT_EQ(launch(main_stream(), "wait", [&](const DeviceView&) { inside = synchronize(main_stream()); }), Result::kSuccess);
  ASSERT_EQ(synchronize(main_stream()), Result::kSuccess);
  EXPECT_EQ(inside, Result::kNotPermitted);
}

TEST(Stream, SynchronizesWhileAnotherThreadGoesOnLaunching) {
  Powered on;
  std::atomic<bool> enough = false;
  std::atomic<int> launched = 0;
  std::thread busy([&] {
    while (!enough) {
      EXPECT_EQ(launch(main_stream(), "busy", nothing()), Result::kSuccess);
      if (++launched % 64 == 0) static_cast<void>(synchronize(main_stream()));  // keeps the queue short
    }
  });
  for (int i = 0; i < 50; ++i) EXPECT_EQ(synchronize(main_stream()), Result::kSuccess);
  enough = true;
  busy.join();
}

TEST(Stream, SerializesLaunchesOfManyThreads) {
  Powered on;
  int runs = 0;  // only the worker writes it
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) EXPECT_EQ(launch(main_stream(), "count", [&](const DeviceView&) { ++runs; }), Result::kSuccess);
    });
  }
  for (auto& thread : threads) thread.join();
  ASSERT_EQ(synchronize_device(0), Result::kSuccess);
  EXPECT_EQ(runs, 2000);
}

}  // namespace
}  // namespace mindtorch::reference_device

// Power, and what calls answer while there is none.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "tests/support/powered.h"

namespace mindtorch::reference_device {
namespace {

TEST(Power, OffMeansNoDevicesAndAClearAnswer) {
  EXPECT_EQ(device_count(), 0);
  EXPECT_EQ(power_state(), Result::kPoweredOff);
  void* address = nullptr;
  Stream* stream = nullptr;
  std::uint64_t ticks = 0;
  EXPECT_EQ(allocate(0, 16, &address), Result::kPoweredOff);
  EXPECT_EQ(create_stream(0, &stream), Result::kPoweredOff);
  EXPECT_EQ(read_clock(0, &ticks), Result::kPoweredOff);
  EXPECT_EQ(synchronize_device(0), Result::kPoweredOff);
  EXPECT_EQ(flush(), Result::kPoweredOff);
  EXPECT_EQ(power_off(), Result::kPoweredOff);
  EXPECT_TRUE(take_truth().empty());
  EXPECT_NE(describe(Result::kPoweredOff).find("MINDTORCH_NPU=reference"), std::string_view::npos);
}

TEST(Power, OnGivesTheDevicesAskedForAndRefusesASecondTime) {
  Powered on({.devices = 3, .memory_bytes = 4096});
  EXPECT_EQ(device_count(), 3);
  EXPECT_EQ(power_on(), Result::kNotPermitted);
  std::uint64_t ticks = 0;
  EXPECT_EQ(read_clock(2, &ticks), Result::kSuccess);
  EXPECT_EQ(read_clock(3, &ticks), Result::kInvalidArgument);
  EXPECT_EQ(read_clock(-1, &ticks), Result::kInvalidArgument);
}

TEST(Power, RefusesADeviceThatCannotBe) {
  EXPECT_EQ(power_on({.devices = 0}), Result::kInvalidArgument);
  EXPECT_EQ(power_on({.memory_bytes = 1}), Result::kInvalidArgument);
  EXPECT_EQ(power_on({.clock = {.ticks_per_ns = -1}}), Result::kInvalidArgument);
  EXPECT_EQ(power_on({.memory_bytes = std::uint64_t{1} << 60}), Result::kOutOfMemory) << "no such address space";
  EXPECT_EQ(device_count(), 0);
}

TEST(Power, OffFinishesQueuedWorkFirst) {
  int runs = 0;
  {
    Powered on;
    Stream* other = new_stream();
    Event* event = nullptr;
    ASSERT_EQ(create_event(&event), Result::kSuccess);
    ASSERT_EQ(record_event(event, main_stream()), Result::kSuccess);
    ASSERT_EQ(wait_event(other, event), Result::kSuccess);
    for (int i = 0; i < 10; ++i) ASSERT_EQ(launch(other, "count", [&](const DeviceView&) { ++runs; }), Result::kSuccess);
    ASSERT_EQ(destroy_event(event), Result::kSuccess);
  }
  EXPECT_EQ(runs, 10);
}

TEST(Power, IsLostInAForkWhichCanEndAllTheSame) {
  Powered on;
  Gate gate;
  ASSERT_EQ(launch(main_stream(), "hold", gate.kernel()), Result::kSuccess);
  const pid_t child = fork();
  if (child == 0) {
    const bool good = device_count() == 0 && power_state() == Result::kForked && power_on() == Result::kForked;
    std::exit(good ? 0 : 1);  // with the handlers of exit, which must not wait for the parent's workers
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(power_state(), Result::kSuccess) << "the parent is not affected";
}

// Runs in a child, as the environment is read once in a process.
TEST(PowerDeathTest, ComesOnByItselfWhenTheEnvironmentAsksForIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("MINDTORCH_NPU", "reference", 1);
        std::exit(device_count() == 1 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        setenv("MINDTORCH_NPU", "ascend", 1);
        std::exit(device_count() == 0 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(PowerDeathTest, EndsTheProcessWithWorkStillQueued) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static_cast<void>(power_on());
        Event* event = nullptr;
        static_cast<void>(create_event(&event));
        Stream* other = new_stream();
        Stream* third = new_stream();
        // Runs until the end of the process has begun, which it sees by the refusal.
        static_cast<void>(launch(main_stream(), "hold", [third](const DeviceView&) {
          while (launch(third, "probe", nothing()) == Result::kSuccess) std::this_thread::yield();
        }));
        static_cast<void>(launch(main_stream(), "never", [](const DeviceView&) { std::_Exit(3); }));
        static_cast<void>(record_event(event, main_stream()));
        static_cast<void>(wait_event(other, event));
        static_cast<void>(launch(other, "never", [](const DeviceView&) { std::_Exit(4); }));
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace mindtorch::reference_device

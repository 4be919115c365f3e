// Events: order between streams, and time between places.
#include "mindtorch/reference_device/event.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/powered.h"

namespace mindtorch::reference_device {
namespace {

class NewEvent {
 public:
  NewEvent() { EXPECT_EQ(create_event(&event_), Result::kSuccess); }
  ~NewEvent() { EXPECT_EQ(destroy_event(event_), Result::kSuccess); }
  operator Event*() const { return event_; }  // NOLINT: reads like the handle it stands for

 private:
  Event* event_ = nullptr;
};

TEST(Event, IsReachedWhenItsStreamGetsThere) {
  Powered on;
  NewEvent event;
  EXPECT_EQ(query(event), Result::kSuccess) << "never recorded";
  Gate gate;
  ASSERT_EQ(launch(main_stream(), "hold", gate.kernel()), Result::kSuccess);
  ASSERT_EQ(record_event(event, main_stream()), Result::kSuccess);
  EXPECT_EQ(query(event), Result::kNotReady);
  gate.open();
  EXPECT_EQ(synchronize(event), Result::kSuccess);
  EXPECT_EQ(query(event), Result::kSuccess);
}

TEST(Event, HoldsAnotherStreamUntilItIsReached) {
  Powered on;
  NewEvent event;
  Gate gate;
  std::atomic<int> steps = 0;
  int first = -1, second = -1;
  Stream* other = new_stream();
  ASSERT_EQ(launch(main_stream(), "hold", gate.kernel()), Result::kSuccess);
  ASSERT_EQ(launch(main_stream(), "first", [&](const DeviceView&) { first = steps++; }), Result::kSuccess);
  ASSERT_EQ(record_event(event, main_stream()), Result::kSuccess);
  ASSERT_EQ(wait_event(other, event), Result::kSuccess);
  ASSERT_EQ(launch(other, "second", [&](const DeviceView&) { second = steps++; }), Result::kSuccess);
  gate.open();
  ASSERT_EQ(synchronize_device(0), Result::kSuccess);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST(Event, WaitsForThePlaceKnownWhenTheWaitWasQueued) {
  Powered on;
  NewEvent event;
  Gate gate;
  Stream* other = new_stream();
  ASSERT_EQ(record_event(event, main_stream()), Result::kSuccess);
  ASSERT_EQ(wait_event(other, event), Result::kSuccess);
  ASSERT_EQ(launch(main_stream(), "hold", gate.kernel()), Result::kSuccess);
  ASSERT_EQ(record_event(event, main_stream()), Result::kSuccess);
  EXPECT_EQ(synchronize(other), Result::kSuccess) << "the later recording does not hold an earlier wait";
  EXPECT_EQ(query(event), Result::kNotReady);
}

TEST(Event, MayBeDestroyedWhileStreamsStillNeedIt) {
  Powered on;
  Gate gate;
  Stream* other = new_stream();
  ASSERT_EQ(launch(main_stream(), "hold", gate.kernel()), Result::kSuccess);
  {
    NewEvent event;
    ASSERT_EQ(record_event(event, main_stream()), Result::kSuccess);
    ASSERT_EQ(wait_event(other, event), Result::kSuccess);
  }
  gate.open();
  EXPECT_EQ(synchronize(other), Result::kSuccess);
}

TEST(Event, IsReachedEvenOnAStreamThatFailed) {
  Powered on;
  NewEvent event;
  Stream* other = new_stream();
  ASSERT_EQ(launch(main_stream(), "throw", [](const DeviceView&) { throw 1; }), Result::kSuccess);
  ASSERT_EQ(synchronize(main_stream()), Result::kKernelFailed);
  ASSERT_EQ(record_event(event, main_stream()), Result::kSuccess);
  ASSERT_EQ(wait_event(other, event), Result::kSuccess);
  EXPECT_EQ(synchronize(other), Result::kSuccess);
}

std::uint64_t hand_turned_ns = 1;
std::uint64_t hand_turned() { return __atomic_load_n(&hand_turned_ns, __ATOMIC_RELAXED); }

TEST(Event, MeasuresTimeOnTheDevicesClock) {
  hand_turned_ns = 1;
  Powered on({.memory_bytes = 4096, .clock = {.ticks_per_ns = 0.1, .drift_ppm = 0}, .host_now = &hand_turned});
  NewEvent start, end;
  ASSERT_EQ(record_event(start, main_stream()), Result::kSuccess);
  ASSERT_EQ(synchronize(start), Result::kSuccess);
  double milliseconds = -1;
  EXPECT_EQ(elapsed(&milliseconds, start, end), Result::kInvalidArgument) << "the end was never recorded";
  __atomic_fetch_add(&hand_turned_ns, 3'000'000, __ATOMIC_RELAXED);
  Gate gate;
  ASSERT_EQ(launch(main_stream(), "hold", gate.kernel()), Result::kSuccess);
  ASSERT_EQ(record_event(end, main_stream()), Result::kSuccess);
  EXPECT_EQ(elapsed(&milliseconds, start, end), Result::kNotReady);
  gate.open();
  ASSERT_EQ(synchronize(end), Result::kSuccess);
  EXPECT_EQ(elapsed(&milliseconds, start, end), Result::kSuccess);
  EXPECT_DOUBLE_EQ(milliseconds, 3.0);
  EXPECT_EQ(elapsed(&milliseconds, end, start), Result::kSuccess);
  EXPECT_DOUBLE_EQ(milliseconds, -3.0);
}

}  // namespace
}  // namespace mindtorch::reference_device

// The activity API end to end: calls, the work they cause, delivery, losses. Covers activity.cpp, collector.cpp and api_call.cpp.
#include "mindtorch/reference_device/activity.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "mindtorch/reference_device/collector.h"
#include "tests/support/powered.h"

namespace mindtorch::reference_device {
namespace {

void launch_many(int count, Stream* stream = main_stream()) {
  for (int i = 0; i < count; ++i) ASSERT_EQ(launch(stream, "kernel", nothing()), Result::kSuccess);
}

TEST(Activity, GivesEachLaunchARecordOfTheCallAndOneOfTheKernel) {
  Powered on;
  KeepingSubscriber subscriber;
  ASSERT_EQ(collect(kAllActivities), Result::kSuccess);
  std::uint64_t correlation = 0;
  ASSERT_EQ(launch(main_stream(), "square", nothing(), &correlation), Result::kSuccess);
  ASSERT_EQ(collect(0), Result::kSuccess);
  subscriber.drain();
  ASSERT_EQ(subscriber.calls.size(), 1u);
  ASSERT_EQ(subscriber.kernels.size(), 1u);
  EXPECT_STREQ(subscriber.calls[0].name, "npuLaunchKernel");
  EXPECT_EQ(subscriber.calls[0].correlation, correlation);
  EXPECT_EQ(subscriber.calls[0].thread_id, current_thread_id());
  EXPECT_EQ(subscriber.calls[0].result, Result::kSuccess);
  EXPECT_LE(subscriber.calls[0].start, subscriber.calls[0].end);
  EXPECT_STREQ(subscriber.kernels[0].name, "square");
  EXPECT_EQ(subscriber.kernels[0].correlation, correlation);
  EXPECT_EQ(subscriber.kernels[0].stream, 1u);
  EXPECT_EQ(subscriber.kernels[0].device, 0u);
  EXPECT_LE(subscriber.kernels[0].start, subscriber.kernels[0].end);
}

TEST(Activity, DescribesCopiesMemsetsAndWaits) {
  Powered on;
  KeepingSubscriber subscriber;
  void* address = nullptr;
  Event* event = nullptr;
  char on_host[100] = {};
  ASSERT_EQ(create_event(&event), Result::kSuccess);
  Stream* other = new_stream();
  ASSERT_EQ(collect(kAllActivities), Result::kSuccess);
  ASSERT_EQ(allocate(0, 100, &address), Result::kSuccess);
  ASSERT_EQ(copy_async(address, on_host, 100, CopyKind::kHostToDevice, main_stream()), Result::kSuccess);
  ASSERT_EQ(set_async(address, 9, 50, main_stream()), Result::kSuccess);
  ASSERT_EQ(wait_event(other, event), Result::kSuccess);  // never recorded: no work
  ASSERT_EQ(record_event(event, main_stream()), Result::kSuccess);
  ASSERT_EQ(wait_event(other, event), Result::kSuccess);
  ASSERT_EQ(synchronize(other), Result::kSuccess);
  ASSERT_EQ(synchronize_device(0), Result::kSuccess);
  ASSERT_EQ(release(address), Result::kSuccess);
  ASSERT_EQ(collect(0), Result::kSuccess);
  subscriber.drain();
  ASSERT_EQ(destroy_event(event), Result::kSuccess);

  std::multiset<std::string> names;
  std::set<std::uint64_t> links;
  for (const ApiActivity& call : subscriber.calls) {
    names.insert(call.name);
    if (call.correlation != 0) links.insert(call.correlation);
  }
  EXPECT_EQ(names, (std::multiset<std::string>{"npuDeviceSynchronize", "npuEventRecord", "npuFree", "npuMalloc", "npuMemcpyAsync",
                                               "npuMemsetAsync", "npuStreamSynchronize", "npuStreamWaitEvent", "npuStreamWaitEvent"}));
  ASSERT_EQ(subscriber.copies.size(), 1u);
  EXPECT_EQ(subscriber.copies[0].size, 100u);
  EXPECT_EQ(subscriber.copies[0].direction, CopyKind::kHostToDevice);
  ASSERT_EQ(subscriber.sets.size(), 1u);
  EXPECT_EQ(subscriber.sets[0].size, 50u);
  EXPECT_EQ(subscriber.sets[0].value, 9);
  ASSERT_EQ(subscriber.waits.size(), 1u);
  EXPECT_EQ(subscriber.waits[0].stream, 2u);
  EXPECT_EQ(links, (std::set{subscriber.copies[0].correlation, subscriber.sets[0].correlation, subscriber.waits[0].correlation}))
      << "a call is linked if and only if it caused work";
}

TEST(Activity, CollectsOnlyWhatIsAskedFor) {
  Powered on;
  KeepingSubscriber subscriber;
  launch_many(3);
  ASSERT_EQ(collect(kKernelActivity), Result::kSuccess);
  launch_many(4);
  ASSERT_EQ(collect(kApiActivity), Result::kSuccess);
  launch_many(5);
  ASSERT_EQ(collect(0), Result::kSuccess);
  launch_many(6);
  subscriber.drain();
  EXPECT_EQ(subscriber.kernels.size(), 4u);
  EXPECT_EQ(subscriber.calls.size(), 5u);
}

TEST(Activity, TiesAKernelToTheSetThatHeldWhenItWasLaunched) {
  Powered on;
  KeepingSubscriber subscriber;
  Gate gate;
  ASSERT_EQ(launch(main_stream(), "before", gate.kernel()), Result::kSuccess);
  ASSERT_EQ(collect(kAllActivities), Result::kSuccess);
  ASSERT_EQ(launch(main_stream(), "during", nothing()), Result::kSuccess);
  ASSERT_EQ(collect(0), Result::kSuccess);
  gate.open();
  subscriber.drain();
  ASSERT_EQ(subscriber.kernels.size(), 1u);
  EXPECT_STREQ(subscriber.kernels[0].name, "during");
}

TEST(Activity, LeavesOutACallThatStillWaitsWhenCollectionStops) {
  Powered on;
  KeepingSubscriber subscriber;
  Gate gate;
  ASSERT_EQ(launch(main_stream(), "hold", gate.kernel()), Result::kSuccess);
  ASSERT_EQ(collect(kAllActivities), Result::kSuccess);
  std::thread waiting([] { static_cast<void>(synchronize(main_stream())); });
  ASSERT_EQ(collect(0), Result::kSuccess) << "does not wait for the waiting call";
  gate.open();
  waiting.join();
  subscriber.drain();
  EXPECT_EQ(subscriber.size(), 0u);
}

TEST(Activity, DeliversNothingBeforeABatchIsFullOrSomebodyFlushes) {
  Powered on({.memory_bytes = 4096, .delivery = {.batch_records = 1000}});
  KeepingSubscriber subscriber;
  ASSERT_EQ(collect(kKernelActivity), Result::kSuccess);
  launch_many(10);
  ASSERT_EQ(synchronize_device(0), Result::kSuccess);
  EXPECT_EQ(subscriber.buffers, 0);
  ASSERT_EQ(flush(), Result::kSuccess);
  EXPECT_EQ(subscriber.kernels.size(), 10u);
}

TEST(Activity, DeliversOutOfOrderAndLate) {
  Powered on({.memory_bytes = 4096, .delivery = {.batch_records = 20}});
  KeepingSubscriber subscriber;
  ASSERT_EQ(collect(kKernelActivity), Result::kSuccess);
  launch_many(100);
  subscriber.drain();
  ASSERT_EQ(subscriber.kernels.size(), 100u);
  int inversions = 0;
  for (std::size_t i = 1; i < subscriber.kernels.size(); ++i)
    inversions += subscriber.kernels[i - 1].correlation > subscriber.kernels[i].correlation;
  EXPECT_GT(inversions, 10);
}

TEST(Activity, DeliversInOrderWithoutADisorderSeed) {
  Powered on({.memory_bytes = 4096, .delivery = {.disorder_seed = 0}});
  KeepingSubscriber subscriber;
  ASSERT_EQ(collect(kKernelActivity), Result::kSuccess);
  launch_many(100);
  subscriber.drain();
  for (std::size_t i = 1; i < subscriber.kernels.size(); ++i)
    EXPECT_LT(subscriber.kernels[i - 1].correlation, subscriber.kernels[i].correlation);
}

TEST(Activity, CountsTheRecordsItDrops) {
  Powered on({.memory_bytes = 4096, .delivery = {.drop_every = 7}});
  KeepingSubscriber subscriber;
  ASSERT_EQ(collect(kAllActivities), Result::kSuccess);
  launch_many(50);
  ASSERT_EQ(collect(0), Result::kSuccess);
  subscriber.drain();
  std::uint64_t dropped = 0;
  ASSERT_EQ(take_dropped(&dropped), Result::kSuccess);
  EXPECT_EQ(dropped, 100u / 7);
  EXPECT_EQ(subscriber.size() + dropped, 100u);
  ASSERT_EQ(take_dropped(&dropped), Result::kSuccess);
  EXPECT_EQ(dropped, 0u) << "taken";
}

TEST(Activity, DropsWhatItsChannelCannotHold) {
  Powered on({.memory_bytes = 4096, .delivery = {.batch_records = 1000, .channel_capacity = 30}});
  KeepingSubscriber subscriber;
  ASSERT_EQ(collect(kKernelActivity), Result::kSuccess);
  launch_many(100);
  subscriber.drain();
  std::uint64_t dropped = 0;
  ASSERT_EQ(take_dropped(&dropped), Result::kSuccess);
  EXPECT_EQ(subscriber.kernels.size(), 30u);
  EXPECT_EQ(dropped, 70u);
}

TEST(Activity, DropsWhatTheSubscriberHasNoBufferFor) {
  Powered on;
  KeepingSubscriber subscriber;
  subscriber.refuse_buffers();
  ASSERT_EQ(collect(kKernelActivity), Result::kSuccess);
  launch_many(10);
  subscriber.drain();
  std::uint64_t dropped = 0;
  ASSERT_EQ(take_dropped(&dropped), Result::kSuccess);
  EXPECT_EQ(dropped, 10u);
  EXPECT_EQ(subscriber.buffers, 0);
}

TEST(Activity, DropsRecordsLargerThanTheBuffer) {
  Powered on;
  KeepingSubscriber subscriber(sizeof(KernelActivity) - 8);
  ASSERT_EQ(collect(kKernelActivity), Result::kSuccess);
  launch_many(3);
  subscriber.drain();
  std::uint64_t dropped = 0;
  ASSERT_EQ(take_dropped(&dropped), Result::kSuccess);
  EXPECT_EQ(dropped, 3u);
}

TEST(Activity, BlanksTheTimesOfRecordsWhenToldTo) {
  Powered on({.memory_bytes = 4096, .delivery = {.blank_every = 5}});
  KeepingSubscriber subscriber;
  ASSERT_EQ(collect(kAllActivities), Result::kSuccess);
  launch_many(50);
  ASSERT_EQ(collect(0), Result::kSuccess);
  subscriber.drain();
  int blank = 0;
  for (const KernelActivity& kernel : subscriber.kernels) blank += kernel.start == 0 && kernel.end == 0;
  EXPECT_EQ(blank, 10);
}

std::uint64_t constant_time(void* user) { return user != nullptr ? 77 : 0; }

TEST(Activity, StampsCallsWithTheSubscribersClockAndKernelsWithTheDevices) {
  Powered on;
  KeepingSubscriber subscriber(4096, &constant_time);
  std::uint64_t before = 0, after = 0;
  ASSERT_EQ(read_clock(0, &before), Result::kSuccess);
  ASSERT_EQ(collect(kAllActivities), Result::kSuccess);
  launch_many(1);
  ASSERT_EQ(collect(0), Result::kSuccess);
  subscriber.drain();
  ASSERT_EQ(read_clock(0, &after), Result::kSuccess);
  EXPECT_EQ(subscriber.calls.at(0).start, 77u);
  EXPECT_EQ(subscriber.calls.at(0).end, 77u);
  EXPECT_LE(before, subscriber.kernels.at(0).start);
  EXPECT_LE(subscriber.kernels.at(0).end, after);
}

TEST(Activity, HasOneSubscriber) {
  Powered on;
  EXPECT_EQ(collect(kAllActivities), Result::kNotSubscribed);
  EXPECT_EQ(subscribe({}), Result::kInvalidArgument);
  {
    KeepingSubscriber subscriber;
    EXPECT_EQ(subscribe({.request = [](void*, std::uint8_t**, std::size_t*) {},
                         .complete = [](void*, std::uint8_t*, std::size_t, std::size_t) {}}),
              Result::kAlreadySubscribed);
    EXPECT_EQ(collect(1u << 20), Result::kInvalidArgument);
  }
  EXPECT_EQ(unsubscribe(), Result::kNotSubscribed);
  KeepingSubscriber again;
}

TEST(Activity, DeliversTheRestWhenTheDeviceIsPoweredOff) {
  auto on = std::make_unique<Powered>();
  KeepingSubscriber subscriber;
  ASSERT_EQ(collect(kKernelActivity), Result::kSuccess);
  launch_many(10);
  on.reset();
  EXPECT_EQ(subscriber.kernels.size(), 10u);
}

TEST(Activity, PairsCallsAndKernelsExactlyWhileThreadsLaunchAndCollectionIsSwitched) {
  Powered on({.devices = 2, .memory_bytes = 4096, .delivery = {.batch_records = 64}});
  KeepingSubscriber subscriber(1024);
  std::atomic<bool> enough = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Stream* stream = new_stream(t % 2);
      while (!enough) {
        EXPECT_EQ(launch(stream, "kernel", nothing()), Result::kSuccess);
        EXPECT_EQ(synchronize(stream), Result::kSuccess);
      }
    });
  }
  for (int round = 0; round < 50; ++round) {
    EXPECT_EQ(collect(kAllActivities), Result::kSuccess);
    launch_many(5, main_stream(round % 2));
    EXPECT_EQ(collect(0), Result::kSuccess);
    subscriber.drain(2);
    std::map<std::uint64_t, int> ends;
    for (const ApiActivity& call : subscriber.calls) ends[call.correlation] += call.correlation != 0;
    for (const KernelActivity& kernel : subscriber.kernels) ends[kernel.correlation] += 10;
    ends.erase(0);
    EXPECT_GE(ends.size(), 5u);
    for (const auto& [correlation, count] : ends) EXPECT_EQ(count, 11) << "one call and one kernel for " << correlation;
    subscriber.calls.clear();
    subscriber.kernels.clear();
  }
  enough = true;
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace mindtorch::reference_device

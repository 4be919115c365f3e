// The contract of a source.
#include "tests/sources/source_contract.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "mindtorch/record/device_mapping.h"
#include "tests/support/rounds.h"

namespace mindtorch::sources {
namespace {

using record::DeviceBatch;
using record::DeviceRecord;

std::int64_t this_thread() { return syscall(SYS_gettid); }

int number_in(std::string_view name) { return std::stoi(std::string(name)); }

std::int64_t absolute_difference(std::int64_t a, std::uint64_t b) { return std::abs(a - static_cast<std::int64_t>(b)); }

// Each launch has its one kernel and each kernel its one launch.
void expect_complete_pairs(const DeviceBatch& batch) {
  std::map<std::uint64_t, std::pair<int, int>> ends;
  for (const DeviceRecord* launch : launches_of(batch)) ++ends[launch->correlation].first;
  for (const DeviceRecord& record : batch.records) {
    if (trace::is_device_kind(record.kind)) ++ends[record.correlation].second;
  }
  for (const auto& [correlation, count] : ends) EXPECT_EQ(count, std::pair(1, 1)) << "correlation " << correlation;
}

}  // namespace

std::vector<const DeviceRecord*> kernels_of(const DeviceBatch& batch) {
  std::vector<const DeviceRecord*> found;
  for (const DeviceRecord& record : batch.records) {
    if (record.kind == trace::EventKind::kKernel) found.push_back(&record);
  }
  return found;
}

std::vector<const DeviceRecord*> launches_of(const DeviceBatch& batch) {
  std::vector<const DeviceRecord*> found;
  for (const DeviceRecord& record : batch.records) {
    if (record.launches) found.push_back(&record);
  }
  return found;
}

void SourceContract::start() {
  const Status prepared = source().prepare({.clock = record::monotonic_clock()});
  ASSERT_TRUE(prepared) << prepared.reason();
  const Status started = source().start();
  ASSERT_TRUE(started) << started.reason();
}

DeviceBatch SourceContract::stop() {
  DeviceBatch batch = source().stop();
  EXPECT_EQ(batch.dropped, 0u) << batch.dropped_detail;
  return batch;
}

void SourceContract::launch_many(int count, const std::string& prefix) {
  for (int i = 0; i < count; ++i) device_->launch(i % device_->stream_count(), prefix + std::to_string(i));
}

TEST_P(SourceContract, SaysThatItsDeviceIsThere) {
  EXPECT_TRUE(source().probe());
  EXPECT_FALSE(source().name().empty());
  EXPECT_NE(source().device_type(), trace::DeviceType::kCpu);
}

TEST_P(SourceContract, FindsEveryKernelOnceAndNothingElse) {
  launch_many(10, "before");
  device_->wait_until_idle();
  start();
  launch_many(300, "kernel");
  const DeviceBatch batch = stop();
  launch_many(10, "after");
  std::multiset<std::string> found, expected;
  for (const DeviceRecord* kernel : kernels_of(batch)) found.insert(std::string(batch.name(*kernel)));
  for (int i = 0; i < 300; ++i) expected.insert("kernel" + std::to_string(i));
  EXPECT_EQ(found, expected);
  expect_complete_pairs(batch);
}

TEST_P(SourceContract, WaitsForKernelsStillInFlightWhenItStops) {
  start();
  launch_many(50, "kernel");  // nobody waits for them
  EXPECT_EQ(kernels_of(stop()).size(), 50u);
}

TEST_P(SourceContract, LinksEachKernelToItsLaunchOnTheThreadThatMadeIt) {
  start();
  std::vector<std::thread> threads;
  std::vector<std::int64_t> ids(3);
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      ids[static_cast<std::size_t>(t)] = this_thread();
      for (int i = 0; i < 40; ++i) device_->launch(i % device_->stream_count(), std::to_string(t));
    });
  }
  for (auto& thread : threads) thread.join();
  const DeviceBatch batch = stop();
  std::map<std::uint64_t, const DeviceRecord*> launch_of;
  for (const DeviceRecord* launch : launches_of(batch)) launch_of[launch->correlation] = launch;
  ASSERT_EQ(kernels_of(batch).size(), 120u);
  for (const DeviceRecord* kernel : kernels_of(batch)) {
    ASSERT_TRUE(launch_of.contains(kernel->correlation));
    EXPECT_EQ(launch_of[kernel->correlation]->lane, ids.at(static_cast<std::size_t>(number_in(batch.name(*kernel)))));
  }
}

TEST_P(SourceContract, KeepsTheOrderOfEachStream) {
  start();
  for (int i = 0; i < 100; ++i) device_->launch(i % 2, std::to_string(i));
  const DeviceBatch batch = stop();
  std::map<std::pair<trace::Device, std::int64_t>, std::vector<const DeviceRecord*>> streams;
  for (const DeviceRecord* kernel : kernels_of(batch)) streams[{kernel->device, kernel->lane}].push_back(kernel);
  EXPECT_EQ(streams.size(), 2u);
  for (auto& [key, kernels] : streams) {
    EXPECT_EQ(kernels.size(), 50u);
    EXPECT_GE(key.second, 1);
    std::sort(kernels.begin(), kernels.end(), [&](auto* a, auto* b) { return number_in(batch.name(*a)) < number_in(batch.name(*b)); });
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      EXPECT_LE(kernels[i]->start, kernels[i]->end);
      EXPECT_LE(i > 0 ? kernels[i - 1]->end : 0, kernels[i]->start) << "kernels of one stream do not overlap";
    }
  }
}

TEST_P(SourceContract, MapsTimesToWithinTheBoundThatItStates) {
  start();
  launch_many(500, "kernel");
  const DeviceBatch batch = stop();
  const auto truth = device_->truth();
  if (!truth) GTEST_SKIP() << "this device does not tell the truth";
  record::TickMapping session;  // the monotonic clock's ticks are the nanoseconds that truth is told in
  std::vector<record::TickMapping> mappings;
  for (const record::SourceClock& clock : batch.clocks) mappings.push_back(record::map_source_clock(clock, session));
  std::map<std::uint64_t, const DeviceRecord*> by_correlation;
  for (const DeviceRecord& record : batch.records) {
    if (trace::is_device_kind(record.kind)) by_correlation[record.correlation] = &record;
  }
  ASSERT_EQ(truth->size(), 500u);
  std::vector<std::int64_t> worst(mappings.size());
  for (const TrueWork& work : *truth) {
    const DeviceRecord* record = by_correlation.at(work.correlation);
    record::TickMapping& mapping = mappings.at(record->clock);
    worst[record->clock] = std::max({worst[record->clock], absolute_difference(mapping.to_ns(record->start), work.start_ns),
                                     absolute_difference(mapping.to_ns(record->end), work.end_ns)});
  }
  for (std::size_t i = 0; i < mappings.size(); ++i) EXPECT_LE(worst[i], mappings[i].error_bound_ns()) << batch.clocks[i].name;
  for (record::TickMapping& mapping : mappings) EXPECT_LT(mapping.error_bound_ns(), 1'000'000) << "a bound that says something";
}

TEST_P(SourceContract, PutsLaunchesOnTheSessionsClock) {
  start();
  const std::uint64_t before = record::monotonic_clock().ticks();
  launch_many(5, "kernel");
  const std::uint64_t after = record::monotonic_clock().ticks();
  const DeviceBatch batch = stop();
  ASSERT_EQ(launches_of(batch).size(), 5u);
  record::TickMapping session;
  for (const DeviceRecord* launch : launches_of(batch)) {
    record::TickMapping mapping = record::map_source_clock(batch.clocks.at(launch->clock), session);
    EXPECT_GE(mapping.to_ns(launch->start) + mapping.error_bound_ns(), static_cast<std::int64_t>(before));
    EXPECT_LE(mapping.to_ns(launch->end) - mapping.error_bound_ns(), static_cast<std::int64_t>(after));
  }
}

TEST_P(SourceContract, CollectsNothingWhileToggledOff) {
  start();
  launch_many(10, "first");
  source().toggle(false);
  launch_many(20, "hidden");
  source().toggle(true);
  launch_many(30, "second");
  const DeviceBatch batch = stop();
  std::map<std::string, int> found;
  for (const DeviceRecord* kernel : kernels_of(batch)) {
    const std::string name(batch.name(*kernel));
    ++found[name.substr(0, name.find_first_of("0123456789"))];
  }
  EXPECT_EQ(found, (std::map<std::string, int>{{"first", 10}, {"second", 30}}));
  expect_complete_pairs(batch);
}

TEST_P(SourceContract, StartsAndStopsAHundredTimes) {
  for (int round = 0; round < tests::rounds(100); ++round) {
    start();
    device_->launch(0, "inside" + std::to_string(round));
    const DeviceBatch batch = stop();
    device_->launch(1, "outside");
    const auto kernels = kernels_of(batch);
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(batch.name(*kernels[0]), "inside" + std::to_string(round));
    expect_complete_pairs(batch);
  }
}

TEST_P(SourceContract, MayBePreparedWithoutAStartThatFollows) {
  ASSERT_TRUE(source().prepare({.clock = record::monotonic_clock()}));
  launch_many(3, "unseen");
  ASSERT_TRUE(source().prepare({.clock = record::monotonic_clock()}));
  start();
  launch_many(4, "kernel");
  EXPECT_EQ(kernels_of(stop()).size(), 4u);
}

TEST_P(SourceContract, LosesNothingWhileThreadsGoOnLaunching) {
  // Far more than come while a session stops, and no more than buffers hold if the thread that decodes them gets no processor meanwhile.
  constexpr int kAhead = 5'000;
  std::atomic<bool> enough = false;
  std::atomic<int> launched = 0, allowed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      while (!enough) {
        if (launched >= allowed) {
          std::this_thread::yield();
          continue;
        }
        device_->launch(t % device_->stream_count(), "busy");
        if (launched.fetch_add(1) % 100 == 99) device_->wait_until_idle();  // keeps queues short
      }
    });
  }
  for (int round = 0; round < tests::rounds(20); ++round) {
    start();
    const int until = launched + 20;
    allowed = launched + kAhead;
    while (launched < until) std::this_thread::yield();
    const DeviceBatch batch = stop();
    EXPECT_GE(kernels_of(batch).size(), 10u);
    expect_complete_pairs(batch);
  }
  enough = true;
  for (auto& thread : threads) thread.join();
  device_->wait_until_idle();
}

}  // namespace mindtorch::sources

// RecordStore under spill: what is written early, what waits, and that both together are what a recording in memory has.
#include "mindtorch/sources/record_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

namespace mindtorch::sources {
namespace {

using record::DeviceBatch;
using record::DeviceRecord;
using testing::ElementsAre;
using testing::IsEmpty;
using trace::EventKind;

constexpr RecordStore::Window kWhole{.begin = {.vendor = 100}, .end = {.vendor = 10'000}};

class Store : public RecordStore {
 public:
  Store() : RecordStore(1 << 20) {}
  void add_call(std::uint64_t correlation, std::uint64_t start, std::uint64_t end) {
    store({.start = start, .end = end, .correlation = correlation, .kind = EventKind::kRuntime, .launches = true});
  }
  void add_kernel(std::uint64_t correlation, std::uint64_t start, std::uint64_t end) {
    store_work({.start = start, .end = end, .correlation = correlation, .kind = EventKind::kKernel});
  }
  // The records that were written early.
  std::vector<DeviceRecord> write_before(std::uint64_t time) {
    std::vector<DeviceRecord> written;
    RecordStore::write_before({.vendor = time}, {kWhole}, [&](DeviceBatch& batch) { written = std::exchange(batch.records, {}); });
    return written;
  }
  std::vector<double> samples() const { return batch().counters.at(0).values; }
  std::uint64_t losses() {
    count_losses();
    return batch().dropped;
  }
  std::vector<DeviceRecord> finish() {
    drop_outside({kWhole});
    return batch().records;
  }
};

// Sorted.
std::vector<std::uint64_t> correlations_of(const std::vector<DeviceRecord>& records, EventKind kind) {
  std::vector<std::uint64_t> found;
  for (const DeviceRecord& record : records)
    if (record.kind == kind) found.push_back(record.correlation);
  std::ranges::sort(found);
  return found;
}

TEST(RecordStore, WritesWhatEndedBeforeATimeAndKeepsTheRest) {
  Store store;
  store.add_call(1, 200, 210);
  store.add_kernel(1, 220, 240);
  store.add_call(2, 400, 410);
  store.add_kernel(2, 420, 900);
  const auto written = store.write_before(500);
  EXPECT_THAT(correlations_of(written, EventKind::kRuntime), ElementsAre(1, 2));
  EXPECT_THAT(correlations_of(written, EventKind::kKernel), ElementsAre(1));
  const auto rest = store.finish();
  EXPECT_THAT(correlations_of(rest, EventKind::kKernel), ElementsAre(2));
  EXPECT_THAT(correlations_of(rest, EventKind::kRuntime), IsEmpty());
}

TEST(RecordStore, KeepsWorkThatEndedBeforeItsCall) {
  Store store;
  store.add_call(1, 200, 210);
  store.add_kernel(1, 220, 240);
  store.add_kernel(2, 420, 430);  // the call waits for it
  store.add_call(2, 400, 600);
  EXPECT_THAT(correlations_of(store.write_before(500), EventKind::kKernel), ElementsAre(1));
  store.add_kernel(3, 440, 450);  // its call is still under way
  EXPECT_THAT(correlations_of(store.write_before(700), EventKind::kKernel), ElementsAre(2));
  store.add_call(3, 435, 800);
  EXPECT_THAT(correlations_of(store.finish(), EventKind::kKernel), ElementsAre(3));
}

TEST(RecordStore, WritesNothingOfCallsOutsideOfTheRecording) {
  Store store;
  store.add_call(1, 50, 60);  // before the window
  store.add_call(2, 200, 210);
  store.add_kernel(1, 220, 240);
  store.add_kernel(2, 240, 250);
  const auto written = store.write_before(500);
  EXPECT_THAT(correlations_of(written, EventKind::kRuntime), ElementsAre(2));
  EXPECT_THAT(correlations_of(written, EventKind::kKernel), ElementsAre(2));
  store.add_kernel(1, 510, 520);  // more work of the call that is left out
  store.add_call(3, 600, 610);
  EXPECT_THAT(correlations_of(store.finish(), EventKind::kKernel), IsEmpty());
}

// However often and whenever records are written, all of them together are those of a recording that stays in memory.
TEST(RecordStore, WritesEarlyWhatARecordingInMemoryWouldHold) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Store early, whole;
    std::vector<DeviceRecord> written;
    std::uint64_t time = 0;
    for (std::uint64_t correlation = 1; correlation <= 300; ++correlation) {
      time += random() % 60;
      const std::uint64_t call_end = time + random() % 40, begin = time + random() % 30, end = begin + random() % 50;
      for (Store* store : {&early, &whole}) {
        store->add_kernel(correlation, begin, end);
        store->add_call(correlation, time, call_end);
      }
      if (random() % 20 != 0) continue;
      const auto more = early.write_before(time);
      written.insert(written.end(), more.begin(), more.end());
    }
    const auto rest = early.finish();
    written.insert(written.end(), rest.begin(), rest.end());
    const auto expected = whole.finish();
    for (const EventKind kind : {EventKind::kRuntime, EventKind::kKernel})
      EXPECT_EQ(correlations_of(written, kind), correlations_of(expected, kind)) << "seed " << seed;
  }
}

TEST(RecordStore, SamplesOfCountersAreWrittenAtOnceForgottenByTimeAndLimitedByTheBudget) {
  Store store;
  const std::uint32_t power = store.counter_id("power", "W", {});
  EXPECT_EQ(store.counter_id("power", "W", {}), power);
  store.store_sample(power, 50, 1);  // before the recording
  store.store_sample(power, 200, 2);
  store.store_sample(power, 300, 3);
  EXPECT_EQ(store.size(), 3u);
  store.forget_before({.vendor = 250});
  EXPECT_THAT(store.samples(), ElementsAre(3));
  std::vector<double> written;
  static_cast<RecordStore&>(store).write_before({.vendor = 260}, {kWhole}, [&](DeviceBatch& batch) {
    written = batch.counters[0].values;
    batch.clear_samples();
  });
  EXPECT_THAT(written, ElementsAre(3)) << "a sample belongs to no call that it would have to wait for";
  EXPECT_EQ(store.size(), 0u);
  for (int i = 0; i < 100'000; ++i) store.store_sample(power, 400, i);
  EXPECT_EQ(store.samples().size(), (std::size_t{1} << 20) / 16);
  EXPECT_EQ(store.losses(), 100'000 - (1u << 20) / 16);
}

TEST(RecordStore, SamplesWithoutATimeOrAValueAreCounted) {
  Store store;
  const std::uint32_t power = store.counter_id("power", "W", {});
  store.store_sample(power, 0, 1);
  store.store_sample(power, 200, std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(store.samples(), IsEmpty());
  EXPECT_EQ(store.losses(), 2u);
}

}  // namespace
}  // namespace mindtorch::sources

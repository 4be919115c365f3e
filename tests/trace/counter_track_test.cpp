// Counter tracks, in memory and in files.
#include "mindtorch/trace/counter_track.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "mindtorch/trace/append.h"
#include "mindtorch/trace/file.h"
#include "mindtorch/trace/invariants.h"
#include "mindtorch/trace/recording_reader.h"

namespace mindtorch::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Device kGpu{DeviceType::kCuda, 0};

CounterTrack power() { return {"power", "W", kGpu, {10, 20, 30}, {100.5, 101.25, -3}}; }

Recording with(std::vector<CounterTrack> counters) {
  Recording recording;
  recording.counters = std::move(counters);
  return recording;
}

std::string temporary(const char* name) { return (std::filesystem::path(testing::TempDir()) / name).string(); }

Recording saved_and_read(const Recording& recording) {
  const std::string path = temporary("counter_track.mtrec");
  save(recording, path);
  const std::string bytes = read_file(path);
  LoadResult result = RecordingReader(bytes, path).read();
  EXPECT_FALSE(result.damage) << *result.damage;
  return std::move(result.recording);
}

TEST(CounterTrack, IsFoundByNameUnitAndDevice) {
  std::vector<CounterTrack> counters;
  find_or_add_counter(counters, "power", "W", kGpu).values.push_back(1);
  find_or_add_counter(counters, "power", "W", {DeviceType::kCuda, 1});
  find_or_add_counter(counters, "power", "mW", kGpu);
  EXPECT_EQ(find_or_add_counter(counters, "power", "W", kGpu).values.size(), 1u);
  EXPECT_EQ(counters.size(), 3u);
}

TEST(CounterTrack, SamplesAreSortedByTimeAndKeepTheirOrderOtherwise) {
  CounterTrack counter{"power", "W", kGpu, {30, 10, 30, 20}, {1, 2, 3, 4}};
  order_samples(counter);
  EXPECT_THAT(counter.times_ns, ElementsAre(10, 20, 30, 30));
  EXPECT_THAT(counter.values, ElementsAre(2, 4, 1, 3));
}

TEST(CounterTrack, InvariantsNameWhatIsWrong) {
  EXPECT_EQ(check_invariants(with({power()})), "");
  CounterTrack lengths = power(), order = power(), number = power();
  lengths.values.pop_back();
  order.times_ns[0] = 25;
  number.values[1] = std::nan("");
  EXPECT_THAT(check_invariants(with({lengths})), HasSubstr("'power' has 3 times for 2 values"));
  EXPECT_THAT(check_invariants(with({order})), HasSubstr("not sorted by time"));
  EXPECT_THAT(check_invariants(with({number})), HasSubstr("not a number"));
  EXPECT_THAT(check_invariants(with({power(), power()})), HasSubstr("two counters 'power'"));
}

TEST(CounterTrack, AFileHoldsEverySampleExactly) {
  CounterTrack many{"sm__cycles_active", "%", kGpu, {}, {}};
  for (int i = 0; i < 200'000; ++i) {
    many.times_ns.push_back(std::int64_t{i} * 1000 - 5);
    many.values.push_back(i / 7.0);
  }
  const Recording recording = with({power(), many, {"no unit", "", {}, {1}, {1e300}}, {"no sample", "W", {}, {}, {}}});
  EXPECT_EQ(saved_and_read(recording).counters, recording.counters);
}

TEST(CounterTrack, TimesAreShiftedWhenARecordingIsAppended) {
  Recording first = with({power()}), second = with({power(), {"temperature", "C", kGpu, {5}, {40}}});
  first.clock.base_unix_ns = 1000;
  second.clock.base_unix_ns = 1100;
  append(first, second);
  EXPECT_THAT(first.counters[0].times_ns, ElementsAre(10, 20, 30, 110, 120, 130));
  EXPECT_THAT(first.counters[1].times_ns, ElementsAre(105));
  EXPECT_EQ(check_invariants(first), "");
}

}  // namespace
}  // namespace mindtorch::trace

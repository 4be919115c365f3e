// What the CUPTI source records on request: environment counters and CUDA events, and what it says where the library refuses them.
#include <gmock/gmock.h>

#include <array>
#include <filesystem>

#include "mindtorch/ingest/load_trace.h"
#include "mindtorch/sources/cupti/pm_sampling.h"
#include "tests/sources/cupti_fixture.h"

namespace mindtorch::sources {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using trace::CounterTrack;
using trace::EventIndex;
using trace::EventKind;
using trace::Recording;

constexpr trace::Device kGpu0{trace::DeviceType::kCuda, 0};

void measure(std::uint32_t kind, std::initializer_list<std::uint32_t> values, std::uint32_t device = 0) {
  CuptiDoubleMeasurement measured{.device = device, .environment_kind = kind};
  std::ranges::copy(values, measured.values);
  cupti_double_measure(&measured);
}

const CounterTrack* find(const Recording& recording, std::string_view name, trace::Device device = kGpu0) {
  for (const CounterTrack& counter : recording.counters)
    if (counter.name == name && counter.device == device) return &counter;
  return nullptr;
}

const record::DeviceOptions kEnvironmentOnly{.extras = {.environment = true, .metrics = {}}};
const record::DeviceOptions kEventsOnly{.extras = {.events = true, .metrics = {}}};

class CuptiExtraRecordsTest : public CuptiRecordsTest {};

class CuptiExtrasTest : public CuptiTest {
 protected:
  Recording record_policy(const record::Budget& budget, const std::function<void()>& work) {
    auto session = record::Session::prepare({.budget = budget, .device = kEnvironmentOnly, .sources = {&source_}});
    session->start();
    work();
    return session->stop();
  }
};

TEST_P(CuptiExtraRecordsTest, EnvironmentRecordsBecomeCounters) {
  const Recording recording = record(
      [] {
        measure(cupti::kPower, {312'500, 700'000});
        measure(cupti::kSpeed, {1980, 3201, 5, 16, 0});
        measure(cupti::kTemperature, {41});
        measure(cupti::kCooling, {35});
        measure(cupti::kPower, {313'250, 700'000});
        measure(cupti::kTemperature, {52}, 1);
      },
      kEnvironmentOnly);
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_THAT(recording.losses, IsEmpty());
  ASSERT_EQ(recording.counters.size(), 7u);
  EXPECT_THAT(find(recording, "power")->values, ElementsAre(312.5, 313.25));
  EXPECT_EQ(find(recording, "power")->unit, "W");
  EXPECT_THAT(find(recording, "power limit")->values, ElementsAre(700, 700));
  EXPECT_THAT(find(recording, "SM clock")->values, ElementsAre(1980));
  EXPECT_THAT(find(recording, "memory clock")->values, ElementsAre(3201));
  EXPECT_EQ(find(recording, "memory clock")->unit, "MHz");
  EXPECT_THAT(find(recording, "temperature")->values, ElementsAre(41));
  EXPECT_THAT(find(recording, "fan speed")->values, ElementsAre(35));
  EXPECT_THAT(find(recording, "temperature", {trace::DeviceType::kCuda, 1})->values, ElementsAre(52));
  const CounterTrack& power = *find(recording, "power");
  EXPECT_GE(power.times_ns[0], recording.clock.start_ns - 1000);
  EXPECT_LE(power.times_ns[1], recording.clock.end_ns + 1000);
}

TEST_F(CuptiExtrasTest, NothingIsMeasuredUnlessItIsAskedFor) {
  const Recording recording = record([] {
    measure(cupti::kPower, {1, 1});
    cupti_double_record_event(7, 1);
  });
  EXPECT_THAT(recording.counters, IsEmpty());
  EXPECT_EQ(count_of(recording, EventKind::kSync), 0u);
}

TEST_F(CuptiExtrasTest, ARefusedKindIsToldAndTheRestIsRecorded) {
  cupti_double_fail("cuptiActivityEnable", cupti::kInsufficientPrivileges, 5, 1);
  const Recording recording = record([] { run_op("op"); }, kEnvironmentOnly);
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("power, clocks and temperature are not recorded: cuptiActivityEnable(ENVIRONMENT)")));
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 1u);
}

TEST_F(CuptiExtrasTest, SamplesOutsideOfTheRecordingAreLeftOut) {
  std::uint64_t early = 0;
  cupti::Library library;
  ASSERT_TRUE(library.load());
  library.functions().cuptiGetTimestamp(&early);
  const Recording recording = record(
      [&] {
        const CuptiDoubleMeasurement late{.environment_kind = cupti::kTemperature, .values = {40}, .time_ns = early};
        cupti_double_measure(&late);
        measure(cupti::kTemperature, {41});
      },
      kEnvironmentOnly);
  ASSERT_NE(find(recording, "temperature"), nullptr);
  EXPECT_THAT(find(recording, "temperature")->values, ElementsAre(41));
}

TEST_F(CuptiExtrasTest, MeasurementsOfAnUnknownKindAreCounted) {
  const Recording recording = record([] { measure(9, {1}); }, kEnvironmentOnly);
  EXPECT_EQ(losses_of(recording)[trace::LossReason::kDeviceDropped], 1u);
  EXPECT_THAT(loss_text(recording), HasSubstr("of an unknown kind"));
}

TEST_F(CuptiExtrasTest, SamplesShareTheBudgetOfRecords) {
  const Recording recording = record_policy({.bytes = std::int64_t{4} << 20}, [] {
    for (int i = 0; i < 300'000; ++i) measure(cupti::kTemperature, {41});
  });
  const std::size_t kept = find(recording, "temperature")->size();
  EXPECT_LT(kept, 300'000u);
  EXPECT_GT(kept, 200'000u);
  const std::uint64_t dropped = losses_of(recording)[trace::LossReason::kDeviceDropped];
  EXPECT_GE(kept + dropped, 300'000u);
  EXPECT_LE(kept + dropped, 300'001u) << "the source's own wait for the device is a call too";
}

TEST_F(CuptiExtrasTest, SpilledSamplesAreAllInTheFile) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / "counters.mtrec").string();
  record_policy({.policy = record::Budget::Policy::kSpill, .spill_path = path}, [] {
    for (int i = 0; i < 100'000; ++i) measure(cupti::kTemperature, {static_cast<std::uint32_t>(i)});
    run_op("op");
  });
  const Recording recording = ingest::load_trace(path).recording;
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
  ASSERT_EQ(recording.counters.size(), 1u);
  ASSERT_EQ(recording.counters[0].size(), 100'000u);
  EXPECT_EQ(recording.counters[0].values[99'999], 99'999);
  EXPECT_EQ(trace::check_invariants(recording), "");
}

TEST_P(CuptiExtraRecordsTest, ACudaEventMarksAMomentOfItsStream) {
  const Recording recording = record(
      [] {
        run_op("op");
        cupti_double_record_event(7, 12);
      },
      kEventsOnly);
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
  const std::vector<EventIndex> marks = events_of(recording, EventKind::kSync);
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(recording.name(marks[0]), "Event Record");
  EXPECT_EQ(text_of(recording, marks[0], "event id"), "12");
  EXPECT_EQ(recording.events.duration_ns[marks[0]], 0);
  const EventIndex kernel = events_of(recording, EventKind::kKernel).at(0);
  EXPECT_GE(recording.events.start_ns[marks[0]], recording.events.end_ns(kernel)) << "the event waits for the kernel before it";
  EXPECT_EQ(recording.track_of(marks[0]), recording.track_of(kernel));
}

INSTANTIATE_TEST_SUITE_P(Cupti, CuptiExtraRecordsTest, testing::Values(kClassicRecords, kUserDefinedRecords), name_of_records);

TEST_F(CuptiExtrasTest, AnOldLibraryGivesEventsTheTimeOfTheirCall) {
  cupti_double_set_version(24);
  cupti::CuptiSource old;
  auto session = record::Session::prepare({.device = kEventsOnly, .sources = {&old}});
  session->start();
  cupti_double_record_event(7, 12);
  cupti_double_synchronize();
  const std::vector<std::string> problems = session->source_problems();
  const Recording recording = session->stop();
  EXPECT_THAT(problems, testing::Contains(HasSubstr("the time of their call")));
  const std::vector<EventIndex> marks = events_of(recording, EventKind::kSync);
  ASSERT_EQ(marks.size(), 1u) << "waits that nobody asked for are left out";
  EXPECT_EQ(recording.name(marks[0]), "Event Record");
  for (const EventIndex call : events_of(recording, EventKind::kRuntime))
    if (recording.name(call) == "cudaEventRecord") {
      EXPECT_EQ(recording.events.end_ns(call), recording.events.start_ns[marks[0]]);
    }
}

constexpr auto kPmFunctions = std::to_array(
    {"cuptiProfilerInitialize", "cuptiDeviceGetChipName", "cuptiPmSamplingGetCounterAvailability", "cuptiProfilerHostInitialize",
     "cuptiProfilerHostConfigAddMetrics", "cuptiProfilerHostGetConfigImageSize", "cuptiProfilerHostGetConfigImage",
     "cuptiProfilerHostGetNumOfPasses", "cuptiPmSamplingEnable", "cuptiPmSamplingGetCounterDataSize",
     "cuptiPmSamplingCounterDataImageInitialize", "cuptiPmSamplingStart", "cuptiPmSamplingDecodeData", "cuptiPmSamplingGetCounterDataInfo",
     "cuptiPmSamplingCounterDataGetSampleInfo", "cuptiProfilerHostEvaluateToGpuValues", "cuptiPmSamplingStop", "cuptiPmSamplingDisable",
     "cuptiProfilerHostDeinitialize"});

class PmSamplingTest : public CuptiTest {
 protected:
  ~PmSamplingTest() override { EXPECT_FALSE(cupti_double_is_sampling()); }

  // Everything that a user can read about the source is in `told_`.
  Recording sampled(std::vector<std::string> metrics) {
    cupti::CuptiSource source;  // a new one: CUPTI's profiler is initialised once for each
    record::DeviceOptions options;
    options.extras.metrics = std::move(metrics);
    options.extras.metrics_interval = std::chrono::microseconds(50);
    auto session = record::Session::prepare({.device = options, .sources = {&source}});
    session->start();
    run_op("op");
    spin(std::chrono::milliseconds(1));
    told_.clear();
    for (const std::string& problem : session->source_problems()) told_ += problem + "\n";
    Recording recording = session->stop();
    EXPECT_EQ(trace::check_invariants(recording), "");
    EXPECT_EQ(count_of(recording, EventKind::kKernel), 1u) << told_;
    told_ += loss_text(recording);
    return recording;
  }

  std::string told_;
};

TEST_F(PmSamplingTest, EachMetricBecomesACounter) {
  const Recording recording = sampled({"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "dram__bytes.sum"});
  EXPECT_EQ(told_, "");
  ASSERT_EQ(recording.counters.size(), 2u);
  const CounterTrack &active = recording.counters[0], &bytes = recording.counters[1];
  EXPECT_EQ(active.name, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed");
  EXPECT_EQ(active.unit, "%");
  EXPECT_EQ(active.device, kGpu0);
  EXPECT_EQ(bytes.unit, "");
  ASSERT_GE(active.size(), 15u);
  ASSERT_EQ(active.size(), bytes.size());
  EXPECT_NEAR(bytes.values[3] - active.values[3], 0.1, 1e-9);
  EXPECT_NEAR(static_cast<double>(active.times_ns[9] - active.times_ns[8]), 50'000, 500) << "microseconds of the double's clock";
}

TEST_F(PmSamplingTest, WhatCannotBeSampledIsToldWithWhatToDo) {
  EXPECT_THAT(sampled({"no such metric"}).counters, IsEmpty());
  EXPECT_THAT(told_, HasSubstr("hardware counters are not recorded: GPU 0: cuptiProfilerHostConfigAddMetrics"));
  EXPECT_THAT(told_, HasSubstr("ncu --query-metrics"));
  EXPECT_THAT(sampled({"a__1", "a__2", "a__3", "a__4", "a__5"}).counters, IsEmpty());
  EXPECT_THAT(told_, HasSubstr("needs 2 passes"));
  cupti_double_fail("cuptiPmSamplingEnable", cupti::kInsufficientPrivileges, 0, 1);
  EXPECT_THAT(sampled({"a__1"}).counters, IsEmpty());
  EXPECT_THAT(told_, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
}

// As an H200 does: decoding takes everything out of the hardware, and what does not fit into the image is gone.
TEST_F(PmSamplingTest, SamplesThatWereNotFetchedInTimeAreCounted) {
  constexpr std::uint64_t kInterval = 1000;
  cupti::Library library;
  ASSERT_TRUE(library.load());
  cupti::PmSampling sampling;
  std::vector<std::string> limits;
  sampling.start(library, {.metrics = {"a__1"}, .metrics_interval = std::chrono::nanoseconds(kInterval)}, limits);
  ASSERT_THAT(limits, IsEmpty());
  const std::chrono::milliseconds wait = sampling.longest_wait(std::chrono::milliseconds(500));
  EXPECT_LT(wait, std::chrono::milliseconds(10));
  RecordStore store(std::int64_t{1} << 30);
  const auto now = [&] {
    std::uint64_t ns = 0;
    library.functions().cuptiGetTimestamp(&ns);
    return ns;
  };
  const std::uint64_t begin = now();
  spin(6 * wait);
  sampling.collect(store, now());
  spin(6 * wait);
  const std::uint64_t end = now();
  sampling.stop(store, end);
  const std::uint64_t all = (end - begin) / kInterval;
  EXPECT_GT(store.batch().dropped, all / 10);
  EXPECT_NEAR(static_cast<double>(store.size() + store.batch().dropped), static_cast<double>(all), static_cast<double>(all) / 50);
}

TEST_F(PmSamplingTest, AFullHardwareBufferIsTold) {
  cupti_double_overflow_sampling();
  sampled({"a__1"});
  EXPECT_THAT(told_, HasSubstr("the device's buffer was full"));
}

TEST_F(PmSamplingTest, AGpuThatCannotCountNanosecondsCountsCycles) {
  cupti_double_fail("cuptiPmSamplingSetConfig", cupti::kInvalidParameter, 0, 1);
  EXPECT_EQ(sampled({"a__1"}).counters.size(), 1u);
  EXPECT_EQ(told_, "");
  cupti_double_fail("cuptiPmSamplingSetConfig", cupti::kInvalidParameter, 0, 2);
  EXPECT_THAT(sampled({"a__1"}).counters, IsEmpty());
  EXPECT_THAT(told_, HasSubstr("cuptiPmSamplingSetConfig"));
}

TEST_F(PmSamplingTest, EachCallThatFailsIsToldOrHarmsNothing) {
  for (const char* function : kPmFunctions) {
    cupti_double_reset();
    cupti_double_fail(function, cupti::kUnknownError, 0, 1);
    const Recording recording = sampled({"a__1"});
    EXPECT_TRUE(told_ != "" || (recording.counters.size() == 1 && recording.counters[0].size() >= 15)) << "silence after " << function;
    cupti_double_reset();
    EXPECT_EQ(sampled({"a__1"}).counters.size(), 1u) << "after " << function << " failed\n" << told_;
    EXPECT_EQ(told_, "") << "after " << function << " failed";
  }
  cupti_double_reset();
}

}  // namespace
}  // namespace mindtorch::sources

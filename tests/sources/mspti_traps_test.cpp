// What MSPTI does that its documentation does not say, trap by trap, and what the source makes of it.
#include <algorithm>
#include <set>
#include <thread>

#include "mindtorch/record/device_mapping.h"
#include "mindtorch/reference_device/truth.h"
#include "tests/sources/mspti_fixture.h"
#include "tests/sources/source_contract.h"

namespace mindtorch::sources {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using trace::EventIndex;
using trace::EventKind;
using trace::LossReason;
using trace::Recording;

// Its helpers are used here; the suite itself runs in other programs.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SourceContract);

class MsptiTrapsTest : public MsptiTest {};

class MsptiWithoutPreloadTest : public MsptiTest {
 protected:
  MsptiWithoutPreloadTest() : MsptiTest(260, false) {}
};

TEST_F(MsptiWithoutPreloadTest, KernelsAreRecordedAndTheRestIsToldWithWhatToSet) {
  const Recording recording = record([] { run_ops(5); });
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 5u);
  EXPECT_THAT(problems_, ElementsAre(AllOf(HasSubstr("copies, memsets and allocations"), HasSubstr("LD_PRELOAD=" + double_.path()))));
  EXPECT_TRUE(source_.probe());
  EXPECT_THAT(source_.advice(), HasSubstr("LD_PRELOAD=" + double_.path()));
}

class Mspti262WithoutPreloadTest : public MsptiTest {
 protected:
  Mspti262WithoutPreloadTest() : MsptiTest(262, false) {}
};

TEST_F(Mspti262WithoutPreloadTest, ALibraryThatNeedsNoPreloadRecordsCopiesAndAsksForNothing) {
  void* memory = nullptr;
  ASSERT_EQ(reference_device::allocate(0, 512, &memory), reference_device::Result::kSuccess);
  const Recording recording = record(
      [&] { EXPECT_EQ(reference_device::set_async(memory, 0, 512, reference_device::main_stream()), reference_device::Result::kSuccess); });
  EXPECT_EQ(count_of(recording, EventKind::kMemset), 1u);
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_EQ(source_.advice(), "");
}

// The tests open the double before the source looks at the process, which is what the loader does with a library that is preloaded.
TEST_F(MsptiTrapsTest, WithThePreloadNothingIsMissing) {
  record([] { run_ops(1); });
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_EQ(source_.advice(), "");
}

// MSPTI believes the variable; the loader has only printed an error.
TEST(MsptiPreload, AFileThatTheLoaderHasNotFoundIsNoPreload) {
  mspti::Library library;
  ::setenv("LD_PRELOAD", "/nowhere/libmspti.so", 1);
  ::setenv("MINDTORCH_LIBRARY_PATH", "mspti=/nowhere/libmspti.so", 1);
  EXPECT_FALSE(library.load());
  EXPECT_EQ(library.preload(), mspti::Library::Preload::kWrong);
  EXPECT_THAT(library.preload_advice(), HasSubstr("the loader has not found that file"));
  ::unsetenv("LD_PRELOAD");
}

class MsptiOfCann85Test : public MsptiTest {
 protected:
  MsptiOfCann85Test() : MsptiTest(85, false) {}
};

TEST_F(MsptiOfCann85Test, AnOldLibraryThatIsNotPreloadedSaysThatKernelsAreMissing) {
  const Recording recording = record([] { run_ops(2); });
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 0u);
  EXPECT_EQ(count_of(recording, EventKind::kOp), 2u);
  EXPECT_THAT(problems_, Contains(AllOf(HasSubstr("older than 26.0"), HasSubstr("LD_PRELOAD=" + double_.path()))));
}

TEST_F(MsptiTrapsTest, ASubscriptionComesBeforeEverythingElse) {
  record([] { run_ops(1); });
  // The double reports kinds that are enabled without one, or before callbacks are registered.
  EXPECT_EQ(double_->calls("msptiSubscribe"), 1u);
  EXPECT_STREQ(double_->violations(), "");
}

TEST_F(MsptiTrapsTest, WorkOnADeviceThatWasOpenedBeforeTheSubscriptionIsRecorded) {
  launch("before");
  EXPECT_EQ(count_of(record([] { run_ops(3); }), EventKind::kKernel), 3u);
}

TEST_F(MsptiTrapsTest, TheLibrarysIteratorWhichKeepsItsPositionIsNotUsed) {
  const MsptiDoubleFaults faults{.unknown_record_every = 4};
  double_->set_faults(&faults);
  const Recording recording = record([] { run_ops(12); });
  EXPECT_EQ(double_->calls("msptiActivityGetNextRecord"), 0u);
  // Each unknown record ends its buffer; the buffers after it are read from their beginning.
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 12u);
  EXPECT_EQ(losses_of(recording)[LossReason::kDeviceDropped], 3u);
  EXPECT_THAT(loss_text(recording), HasSubstr("unknown kind"));
}

TEST_F(MsptiTrapsTest, NothingOfTheLibraryIsCalledInsideItsCallbacks) {
  record([] { run_ops(50); });
  EXPECT_STREQ(double_->violations(), "");
}

// 8 MiB hold 80 % of 8 MiB / 56 kernels or 8 MiB / 48 calls.
TEST_F(MsptiTrapsTest, BuffersThatComeBackAfterTheLastFlushAreAwaited) {
  double_->hold_retired_buffers(true);
  std::thread release;
  const Recording recording = record([&] {
    for (int i = 0; i < 80'000; ++i) launch("kernel");
    release = std::thread([&] {
      while (double_->calls("msptiUnsubscribe") == 0) std::this_thread::yield();
      double_->hold_retired_buffers(false);
    });
  });
  release.join();
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 80'000u);
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
}

TEST_F(MsptiTrapsTest, RefusedBuffersComeBackAsNullAndTheirRecordsAreCounted) {
  BufferPool pool(4096, 1);
  std::uint8_t* only = pool.take(true);
  EXPECT_EQ(pool.take(true), nullptr);
  pool.complete(nullptr, 0);
  EXPECT_EQ(pool.refused(), 1u);
  EXPECT_FALSE(pool.wait_until_all_are_back(std::chrono::milliseconds(0)));
  pool.complete(only, 8);
  EXPECT_TRUE(pool.wait_until_all_are_back(std::chrono::milliseconds(0)));
  EXPECT_THAT(pool.wait_filled(std::chrono::milliseconds(0)), testing::SizeIs(1));
}

// Every record asks for a buffer, is refused one, and is dropped. The first refused buffer is handed back as null.
TEST_F(MsptiTrapsTest, RecordsWithoutABufferAreLostAndCountedAndTheNextRecordingIsWhole) {
  const Recording recording = record([&] {
    double_->hoard_buffers();
    run_ops(40);
  });
  EXPECT_EQ(count_of(recording, EventKind::kOp), 40u);
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 0u);
  EXPECT_GE(double_->refused_buffers(), 80u) << "40 calls and 40 kernels";
  EXPECT_EQ(losses_of(recording), (std::map<LossReason, std::uint64_t>{{LossReason::kDeviceDropped, double_->refused_buffers()}}));
  EXPECT_THAT(loss_text(recording), HasSubstr("all buffers were in use"));
  const Recording next = record([] { run_ops(3); });
  EXPECT_EQ(count_of(next, EventKind::kKernel), 3u);
  EXPECT_THAT(next.losses, IsEmpty()) << loss_text(next);
}

TEST_F(MsptiTrapsTest, LossesThatTheLibraryCountsAreReported) {
  const MsptiDoubleFaults faults{.lose_every = 8};
  double_->set_faults(&faults);
  const Recording recording = record([] { run_ops(40); });
  EXPECT_EQ(double_->lost_records(), 5u);
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 35u);
  EXPECT_EQ(losses_of(recording), (std::map<LossReason, std::uint64_t>{{LossReason::kDeviceDropped, 5}, {LossReason::kNoDeviceRecord, 5}}));
}

class MsptiOf260Test : public MsptiTest {
 protected:
  MsptiOf260Test() : MsptiTest(260) {}
};

TEST_F(MsptiOf260Test, LossesThatTheLibraryOnlyLogsAreFoundByTheirLaunches) {
  const MsptiDoubleFaults faults{.lose_every = 8};
  double_->set_faults(&faults);
  const Recording recording = record([] { run_ops(40); });
  EXPECT_EQ(losses_of(recording), (std::map<LossReason, std::uint64_t>{{LossReason::kNoDeviceRecord, double_->lost_records()}}));
}

TEST_F(MsptiTrapsTest, MarkersHaveTheNameOfTheirFirstRecord) {
  const auto start = double_.find<std::uint64_t(const char*, void*)>("mstxRangeStartA");
  const auto end = double_.find<void(std::uint64_t)>("mstxRangeEnd");
  const auto mark = double_.find<void(const char*, void*)>("mstxMarkA");
  const Recording recording = record([&] {
    const std::uint64_t host = start("on the host", nullptr);
    const std::uint64_t both = start("on both", reinterpret_cast<void*>(3));
    mark("moment", nullptr);
    end(both);
    end(host);
  });
  EXPECT_EQ(names_of(recording, EventKind::kScope), (std::map<std::string, int>{{"on the host", 1}, {"on both", 1}}));
  EXPECT_EQ(names_of(recording, EventKind::kInstant), (std::map<std::string, int>{{"moment", 1}}));
  const auto device_ranges = events_of(recording, EventKind::kDeviceScope);
  ASSERT_EQ(device_ranges.size(), 1u);
  EXPECT_EQ(recording.name(device_ranges[0]), "on both");
  EXPECT_EQ(text_of(recording, events_of(recording, EventKind::kInstant)[0], "domain"), "default");
}

TEST_F(MsptiTrapsTest, CopiesAndMemsetsSayThatTheirTimesAreTheHosts) {
  void* memory = nullptr;
  ASSERT_EQ(reference_device::allocate(0, 4096, &memory), reference_device::Result::kSuccess);
  std::vector<std::uint8_t> bytes(4096);
  const Recording recording = record([&] {
    using reference_device::Result;
    EXPECT_EQ(reference_device::set_async(memory, 7, 512, reference_device::main_stream()), Result::kSuccess);
    EXPECT_EQ(reference_device::copy_async(bytes.data(), memory, 4096, reference_device::CopyKind::kDeviceToHost,
                                           reference_device::main_stream()),
              Result::kSuccess);
  });
  ASSERT_EQ(count_of(recording, EventKind::kMemcpy), 1u);
  ASSERT_EQ(count_of(recording, EventKind::kMemset), 1u);
  const EventIndex copy = events_of(recording, EventKind::kMemcpy)[0];
  EXPECT_EQ(recording.name(copy), "Memcpy DtoH");
  EXPECT_EQ(attributes_of(recording, copy), (std::map<std::string, std::string>{{"bytes", "4096"}, {"timing", "host"}}));
  EXPECT_EQ(text_of(recording, events_of(recording, EventKind::kMemset)[0], "value"), "7");
  // The call around it has the same times.
  const auto calls = events_of(recording, EventKind::kRuntime);
  EXPECT_THAT(calls, Contains(testing::Truly([&](EventIndex call) {
                return recording.events.link[call] == recording.events.link[copy] &&
                       recording.events.start_ns[call] == recording.events.start_ns[copy];
              })));
}

class MsptiOnVisibleDevicesTest : public MsptiTest {
 protected:
  MsptiOnVisibleDevicesTest() : MsptiTest(262, true, {.devices = 2, .memory_bytes = 4096}) {}
};

TEST_F(MsptiOnVisibleDevicesTest, NumbersOfTheMachineBecomeThoseOfTheProgram) {
  ::setenv("ASCEND_RT_VISIBLE_DEVICES", "6,7", 1);
  double_->number_devices_from(6);
  const Recording recording = record([] {
    launch("first");
    launch("second", reference_device::main_stream(1));
  });
  ::unsetenv("ASCEND_RT_VISIBLE_DEVICES");
  std::map<std::string, int> device_of;
  for (const EventIndex kernel : events_of(recording, EventKind::kKernel))
    device_of[std::string(recording.name(kernel))] = recording.events.device[kernel].index;
  EXPECT_EQ(device_of, (std::map<std::string, int>{{"first", 0}, {"second", 1}}));
}

TEST(MsptiVisibleDevices, AreAListOfNumbers) {
  EXPECT_THAT(mspti::parse_visible_devices("4,5"), ElementsAre(4, 5));
  EXPECT_THAT(mspti::parse_visible_devices("7"), ElementsAre(7));
  EXPECT_THAT(mspti::parse_visible_devices(""), IsEmpty());
}

TEST_F(MsptiTrapsTest, RecordsThatTheDriverHoldsBackComeWhenKindsAreDisabled) {
  const MsptiDoubleFaults faults{.device_lag = 1'000'000};  // no flush delivers them
  double_->set_faults(&faults);
  const Recording recording = record([] { run_ops(20); });
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 20u);
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
}

TEST_F(MsptiTrapsTest, ReplayedKernelsOfAGraphShareTheirLaunch) {
  const Recording recording = record([&] {
    run_ops(3);
    EXPECT_EQ(reference_device::synchronize_device(0), reference_device::Result::kSuccess);
    for (int i = 0; i < 4; ++i) double_.find<std::int32_t(std::uint32_t)>("msptiActivityFlushAll")(0);
    double_->replay_kernels(2);
  });
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 9u);
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
}

TEST_F(MsptiTrapsTest, AnotherToolIsToldApartFromOtherFailures) {
  double_->set_other_subscriber(true);
  auto session = record::Session::prepare({.sources = {&source_}});
  EXPECT_THAT(session->source_problems(), ElementsAre(AllOf(HasSubstr("another tool has subscribed"), HasSubstr("torch_npu.profiler"))));
  session->start();
  run_op("op");
  EXPECT_EQ(count_of(session->stop(), EventKind::kOp), 1u);
}

TEST_F(MsptiTrapsTest, TheLibraryIsNeverClosed) {
  EXPECT_TRUE(mspti::MsptiSource().probe());
  void* handle = ::dlopen(double_.path().c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(handle, nullptr);
  for (int i = 0; i < 100; ++i) ::dlclose(handle);  // more often than it was opened
  EXPECT_NE(::dlopen(double_.path().c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr);
}

// The stacks of external ids belong to the process. Threads that push would get each other's ids, so nothing is pushed.
TEST_F(MsptiTrapsTest, KernelsOfThreadsAreLinkedWithoutTheStacksOfTheProcess) {
  const Recording recording = record([] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) threads.emplace_back([t] { run_op("thread" + std::to_string(t)); });
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(double_->calls("msptiActivityPushExternalCorrelationId"), 0u);
  ASSERT_EQ(count_of(recording, EventKind::kKernel), 3u);
  for (const EventIndex kernel : events_of(recording, EventKind::kKernel)) {
    for (const EventIndex call : events_of(recording, EventKind::kRuntime)) {
      if (recording.events.link[call] != recording.events.link[kernel]) continue;
      EXPECT_EQ(recording.name(call), "npuLaunchKernel");
    }
  }
}

// The id of a thread stays that of its latest launch, so that waits and other calls have it too.
TEST_F(MsptiTrapsTest, CallsThatLaunchNothingHaveNoKernel) {
  const Recording recording = record([] {
    run_op("op");
    EXPECT_EQ(reference_device::synchronize_device(0), reference_device::Result::kSuccess);
    EXPECT_EQ(reference_device::synchronize_device(0), reference_device::Result::kSuccess);
  });
  for (const EventIndex call : events_of(recording, EventKind::kRuntime))
    EXPECT_EQ(recording.events.link[call] != 0, recording.name(call) == "npuLaunchKernel") << recording.name(call);
  EXPECT_THAT(names_of(recording, EventKind::kRuntime), Contains(testing::Pair("npuDeviceSynchronize", testing::Ge(2))));
}

class MsptiClocksTest : public MsptiTest {
 protected:
  // 90 parts per million for 7 s are 0.63 ms. The library's pair of readings is old when the recording begins: it was taken by a clock that
  // ran ahead since.
  MsptiClocksTest() : MsptiTest(262, true, {.memory_bytes = 4096, .clock = {.ticks_per_ns = 0.05, .drift_ppm = 90}, .keep_truth = true}) {}

  // A recording of the source alone, on the clock that truth is told in.
  record::DeviceBatch record_alone(const std::function<void()>& before_start, const std::function<void()>& work) {
    EXPECT_TRUE(source_.prepare({.clock = record::monotonic_clock()}));
    before_start();
    EXPECT_TRUE(source_.start());
    work();
    return source_.stop();
  }
  // How far the start of a kernel is from the truth at most, and how far it may be.
  struct Errors {
    std::int64_t worst = 0;
    std::int64_t bound = 0;
  };
  static Errors errors_of(const record::DeviceBatch& batch) {
    record::TickMapping session;
    record::TickMapping mapping = record::map_source_clock(batch.clocks.at(1), session);
    Errors errors{.bound = mapping.error_bound_ns()};
    std::map<std::uint64_t, std::uint64_t> true_start;
    for (const reference_device::Truth& work : reference_device::take_truth()) true_start[work.correlation] = work.start_ns;
    for (const record::DeviceRecord* kernel : kernels_of(batch)) {
      const std::int64_t error = mapping.to_ns(kernel->start) - static_cast<std::int64_t>(true_start.at(kernel->correlation));
      errors.worst = std::max(errors.worst, std::abs(error));
    }
    return errors;
  }
};

TEST_F(MsptiClocksTest, AJumpOfTheDevicesClockStaysWithinTheBound) {
  const record::DeviceBatch batch = record_alone([] {},
                                                 [&] {
                                                   for (int i = 0; i < 200; ++i) {
                                                     launch("kernel");
                                                     if (i % 50 == 49) double_->synchronize_clocks();
                                                   }
                                                 });
  ASSERT_EQ(kernels_of(batch).size(), 200u);
  const Errors errors = errors_of(batch);
  EXPECT_LE(errors.worst, errors.bound);
  EXPECT_LT(errors.bound, 1'000'000);
}

// Kernels that start before their launch show that the library's device times are too early.
TEST_F(MsptiClocksTest, KernelsAreMovedBehindTheirLaunches) {
  double_->set_host_clock(-50'000'000, 0);  // wrong while the library compares the clocks, right afterwards
  const record::DeviceBatch batch = record_alone([&] { double_->set_host_clock(0, 0); },
                                                 [] {
                                                   for (int i = 0; i < 20; ++i) launch("kernel");
                                                 });
  EXPECT_THAT(batch.metadata, Contains(testing::Key("npu_0_clock_shift_ns")));
  record::TickMapping session;
  record::TickMapping host = record::map_source_clock(batch.clocks.at(0), session);
  record::TickMapping device = record::map_source_clock(batch.clocks.at(1), session);
  std::map<std::uint64_t, std::int64_t> launched_at;
  for (const record::DeviceRecord* call : launches_of(batch)) launched_at[call->correlation] = host.to_ns(call->start);
  for (const record::DeviceRecord* kernel : kernels_of(batch))
    EXPECT_GE(device.to_ns(kernel->start) + host.error_bound_ns(), launched_at.at(kernel->correlation));
  const Errors errors = errors_of(batch);
  EXPECT_LE(errors.worst, errors.bound);
}

}  // namespace
}  // namespace mindtorch::sources

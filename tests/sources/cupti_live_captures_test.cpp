// Captures of graphs that go on while recordings start, stop, step and are looked at: none of them is harmed, in any mode, on any thread.
#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/sources/cupti_fixture.h"
#include "tests/support/rounds.h"

namespace mindtorch::sources {
namespace {

using testing::ElementsAre;
using testing::Pair;
using trace::EventKind;
using trace::Recording;

constexpr std::uint32_t kModes = 3;

class CuptiLiveCapturesTest : public CuptiRecordsTest {
 protected:
  ~CuptiLiveCapturesTest() override { ::unsetenv("CUDA_DOUBLE_HAS_NO_MEMORY"); }

  // Captures a graph on this thread, with `between` after each node. Returns false if the capture was invalidated.
  static bool capture(std::uint32_t stream, std::uint32_t mode, const std::function<void()>& between) {
    cupti_double_begin_capture_in(stream, mode);
    for (int node = 0; node < 3; ++node) {
      launch("captured", stream);
      between();
    }
    return cupti_double_end_capture(stream) != nullptr;
  }
  std::unique_ptr<record::Session> started(const record::DeviceOptions& options = {}) {
    auto session = record::Session::prepare({.device = options, .sources = {&source_}});
    session->start();
    return session;
  }
};

// The test would prove nothing if the double let everything pass.
TEST_P(CuptiLiveCapturesTest, TheDoubleInvalidatesCapturesAsTheDriverDoes) {
  for (std::uint32_t mode = 0; mode < kModes; ++mode) {
    EXPECT_FALSE(capture(7, mode, [] { cupti_double_wait_for_context(); })) << mode;
    EXPECT_EQ(capture(7, mode, [] { cupti_double_unsafe_call(); }), mode == 2) << mode;
    EXPECT_EQ(capture(7, mode, [] { std::thread([] { cupti_double_free(); }).join(); }), mode != 0) << mode;
    const auto relaxed = [] {
      int relaxed_mode = 2;
      cupti_double_exchange_capture_mode(&relaxed_mode);
      cupti_double_free();
      cupti_double_exchange_capture_mode(&relaxed_mode);
    };
    EXPECT_TRUE(capture(7, mode, relaxed)) << mode;
  }
}

TEST_P(CuptiLiveCapturesTest, ARecordingMayStartAndStopOnTheThreadThatCaptures) {
  for (std::uint32_t mode = 0; mode < kModes; ++mode) {
    Recording recording;
    EXPECT_TRUE(capture(7, mode, [&] { recording = record([] { run_op("op", 13); }); })) << mode;
    EXPECT_THAT(names_of(recording, EventKind::kKernel), ElementsAre(Pair("op_kernel", 1)));
    EXPECT_THAT(recording.losses, testing::IsEmpty()) << loss_text(recording);
  }
}

TEST_P(CuptiLiveCapturesTest, StoppingWaitsForTheDeviceAlsoWhileAGraphIsCaptured) {
  EXPECT_TRUE(capture(7, 0, [&] {
    const Recording recording = record([] {
      const CuptiDoubleWork work{.stream = 13, .name = "long", .duration_ns = 20'000'000};
      cupti_double_issue(&work);
    });
    EXPECT_EQ(count_of(recording, EventKind::kKernel), 1u) << loss_text(recording);
  }));
}

TEST_P(CuptiLiveCapturesTest, ADeviceWithoutMemoryIsWaitedForToo) {
  ::setenv("CUDA_DOUBLE_HAS_NO_MEMORY", "1", 1);
  EXPECT_TRUE(capture(7, 0, [&] {
    const Recording recording = record([] {
      const CuptiDoubleWork work{.stream = 13, .name = "long", .duration_ns = 20'000'000};
      cupti_double_issue(&work);
    });
    EXPECT_EQ(count_of(recording, EventKind::kKernel), 1u) << loss_text(recording);
  }));
}

TEST_P(CuptiLiveCapturesTest, EverythingThatARecordingDoesMayHappenAtAnyMomentOfCaptures) {
  std::atomic<bool> ends{false};
  std::atomic<int> captures{0}, broken{0};
  std::vector<std::thread> threads;
  for (std::uint32_t mode = 0; mode < kModes; ++mode) {
    threads.emplace_back([&, mode] {
      while (!ends) {
        if (!capture(20 + mode, mode, [] { std::this_thread::yield(); })) ++broken;
        ++captures;
      }
    });
  }
  std::minstd_rand random(5);
  const record::DeviceOptions everything{.synchronizations = true,
                                         .extras = {.environment = true, .events = true, .metrics = {"sm__cycles"}}};
  for (int round = 0; round < tests::rounds(40); ++round) {
    auto session = started(random() % 2 == 0 ? everything : record::DeviceOptions{});
    for (int step = 0; step < 6; ++step) {
      launch("kernel", 7);
      switch (random() % 5) {
        case 0: session->snapshot(); break;
        case 1: session->mark_step(step); break;
        case 2:
          session->toggle_source(trace::DeviceType::kCuda, false);
          session->toggle_source(trace::DeviceType::kCuda, true);
          break;
        case 3: capture(7, 0, [&] { session->snapshot(); }) ? void() : void(++broken); break;
        default: std::this_thread::yield();
      }
    }
    session->stop();
    source_.diagnose();
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(captures, 0);
  EXPECT_EQ(broken, 0) << "of " << captures;
}

TEST_P(CuptiLiveCapturesTest, AProcessMayEndWhileAGraphIsCaptured) {
  EXPECT_TRUE(capture(7, 0, [&] {
    cupti::CuptiSource source;
    EXPECT_TRUE(source.prepare({.clock = record::system_clock()}));
    EXPECT_TRUE(source.start());
  }));  // destroyed while it runs
}

INSTANTIATE_TEST_SUITE_P(Cupti, CuptiLiveCapturesTest, testing::Values(kClassicRecords, kUserDefinedRecords), name_of_records);

}  // namespace
}  // namespace mindtorch::sources

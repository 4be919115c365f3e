// StepGraph: who waits for whom is read off the recorded times.
#include "mindtorch/analyze/replay/step_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/analyze/replay/replay.h"
#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

constexpr trace::Device kCuda0{trace::DeviceType::kCuda, 0};

// Three steps of 1 ms, each filled by `add_step` with events of its own.
class Recorder {
 public:
  template <class AddStep>
  explicit Recorder(AddStep add_step) {
    main_ = builder_.add_thread(100);
    first_ = builder_.add_stream(kCuda0, 7);
    second_ = builder_.add_stream(kCuda0, 13);
    for (std::int64_t step = 0; step < 3; ++step) {
      start_ = step * 1'000'000;
      host(trace::step_name(step), 0, 1'000'000, EventKind::kStep, trace::make_step_link(step));
      add_step(*this);
    }
  }
  void host(std::string_view name, std::int64_t at, std::int64_t duration, EventKind kind = EventKind::kOp, std::uint64_t link = 0) {
    builder_.add_event({.name = name, .kind = kind, .track = main_, .start_ns = start_ + at, .duration_ns = duration, .link = link});
  }
  // A launch of 5 us, and its work.
  void launch(std::string_view work, int stream, std::int64_t call, std::int64_t at, std::int64_t duration,
              EventKind kind = EventKind::kKernel) {
    host("cudaLaunchKernel", call, 5'000, EventKind::kRuntime, ++correlation_);
    builder_.add_event({.name = work,
                        .kind = kind,
                        .track = stream == 0 ? first_ : second_,
                        .start_ns = start_ + at,
                        .duration_ns = duration,
                        .link = correlation_,
                        .device = kCuda0});
  }
  void call(std::string_view name, std::int64_t at, std::int64_t duration) {
    host(name, at, duration, EventKind::kRuntime, ++correlation_);
  }
  trace::Recording finish() { return builder_.finish(); }

 private:
  trace::RecordingBuilder builder_;
  trace::TrackId main_, first_, second_;
  std::int64_t start_ = 0;
  std::uint64_t correlation_ = 0;
};

// What a step takes if work with this name takes `factor` of its time.
std::int64_t step_with(const trace::Recording& recording, std::string_view name, double factor) {
  const Analysis analysis(recording);
  const Phases phases(analysis);
  const Ledger ledger(analysis, phases);
  const StepGraph graph(
      analysis, phases, ledger,
      {.of_host = [](const HostTime&) { return TimeClass{0}; },
       .of_device = [&](const DeviceTime& time) { return recording.name(time.work) == name ? TimeClass{1} : TimeClass{0}; }});
  EXPECT_EQ(replay_problem(graph), "");
  EXPECT_EQ(replay(graph, {}), 1'000'000);
  return replay(graph, {.factors = {1, factor}});
}

TEST(StepGraph, WorkWaitsForTheWorkBeforeItOnItsStream) {
  const trace::Recording recording = Recorder([](Recorder& r) {
                                       r.launch("first", 0, 10'000, 16'000, 300'000);
                                       r.launch("second", 0, 20'000, 317'000, 300'000);
                                       r.call("cudaDeviceSynchronize", 30'000, 590'000);
                                     }).finish();
  EXPECT_EQ(step_with(recording, "first", 0.5), 850'000);
  EXPECT_EQ(step_with(recording, "second", 0.5), 850'000);
}

TEST(StepGraph, WorkWaitsForItsLaunch) {
  const trace::Recording recording = Recorder([](Recorder& r) {
                                       r.launch("first", 0, 10'000, 16'000, 300'000);
                                       r.host("aten::slow", 20'000, 500'000);
                                       r.launch("second", 0, 530'000, 536'000, 100'000);
                                       r.call("cudaDeviceSynchronize", 540'000, 100'000);
                                     }).finish();
  EXPECT_EQ(step_with(recording, "first", 0), 1'000'000);  // hidden behind the host
  EXPECT_EQ(step_with(recording, "second", 0), 904'000);   // the call itself takes 4 us
  EXPECT_EQ(step_with(recording, "first", 2), 1'000'000 + 616'000 + 1'000 - 536'000);
}

TEST(StepGraph, StreamsRunBesideEachOtherUnlessOneWaits) {
  const auto with = [](bool waits) {
    return Recorder([=](Recorder& r) {
             r.launch("long", 1, 10'000, 16'000, 600'000);
             if (waits) r.call("cudaStreamWaitEvent", 16'000, 1'000);
             r.launch("short", 0, 20'000, waits ? 618'000 : 26'000, 200'000);
             r.call("cudaDeviceSynchronize", 30'000, waits ? 790'000 : 590'000);
           })
        .finish();
  };
  EXPECT_EQ(step_with(with(false), "short", 0), 1'000'000);
  EXPECT_EQ(step_with(with(false), "long", 0), 1'000'000 - 616'000 + 226'000);
  EXPECT_EQ(step_with(with(true), "short", 0), 800'000);
  EXPECT_EQ(step_with(with(true), "long", 0.5), 700'000);
}

TEST(StepGraph, ABlockingCopyHoldsTheHost) {
  const trace::Recording recording = Recorder([](Recorder& r) {
                                       r.launch("work", 0, 10'000, 16'000, 300'000);
                                       r.call("cudaMemcpy", 20'000, 330'000);
                                       // The copy of the call before.
                                       r.launch("other", 1, 700'000, 706'000, 10'000);
                                     }).finish();
  // The call has no copy of its own in this recording: it is not known to wait.
  EXPECT_EQ(step_with(recording, "work", 0), 1'000'000);
  const trace::Recording linked = Recorder([](Recorder& r) {
                                    r.launch("work", 0, 10'000, 16'000, 300'000);
                                    r.host("cudaMemcpyAsync", 20'000, 320'000, EventKind::kRuntime, 0);
                                  }).finish();
  EXPECT_EQ(step_with(linked, "work", 0), 1'000'000);
}

TEST(StepGraph, TheDeviceMayBeLateForReasonsThatAreNotRecorded) {
  const trace::Recording recording = Recorder([](Recorder& r) {
                                       r.launch("work", 0, 10'000, 500'000, 100'000);
                                       r.call("cudaDeviceSynchronize", 30'000, 575'000);
                                     }).finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  const Ledger ledger(analysis, phases);
  const StepGraph graph(
      analysis, phases, ledger,
      {.of_host = [](const HostTime&) { return TimeClass{0}; }, .of_device = [](const DeviceTime&) { return TimeClass{0}; }});
  EXPECT_THAT(replay_problem(graph), testing::HasSubstr("the recording does not say what for"));
}

}  // namespace
}  // namespace mindtorch::analyze

// A whole session with the reference source: host ops, launches and kernels on one timeline, and an account of what is missing.
#include "mindtorch/record/session.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "mindtorch/ingest/recording_file.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/sources/reference/reference_source.h"
#include "mindtorch/trace/invariants.h"
#include "tests/support/powered.h"

namespace mindtorch::sources {
namespace {

namespace device = reference_device;
using device::Result;
using trace::EventIndex;
using trace::EventKind;
using trace::LossReason;
using trace::Recording;

std::vector<EventIndex> events_of(const Recording& recording, EventKind kind) {
  std::vector<EventIndex> found;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    if (recording.events.kind[i] == kind) found.push_back(i);
  }
  return found;
}

std::map<LossReason, std::uint64_t> losses_of(const Recording& recording) {
  std::map<LossReason, std::uint64_t> counts;
  for (const trace::Loss& loss : recording.losses) counts[loss.reason] += loss.count;
  return counts;
}

void run_op(const std::string& name, device::Stream* stream) {
  record::OpScope op(record::intern(name), record::known({trace::DeviceType::kNpu, 0}));
  ASSERT_EQ(device::launch(stream, name + "_kernel", device::nothing()), Result::kSuccess);
}

Recording record_with(ReferenceSource& source, record::Clock* clock, const std::function<void(record::Session&)>& work) {
  auto session = record::Session::prepare({.clock = clock, .sources = {&source}});
  EXPECT_THAT(session->source_problems(), testing::IsEmpty());
  session->start();
  work(*session);
  Recording recording = session->stop();
  EXPECT_EQ(trace::check_invariants(recording), "");
  return recording;
}

TEST(SourceSession, PutsEachLaunchInsideItsOpAndEachKernelOnItsStream) {
  device::Powered on;
  ReferenceSource source;
  const std::vector<device::Stream*> streams{device::new_stream(), device::new_stream(), device::new_stream()};
  const Recording recording = record_with(source, nullptr, [&](record::Session&) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([t, stream = streams[static_cast<std::size_t>(t)]] {
        for (int i = 0; i < 100; ++i) run_op("op" + std::to_string(t) + "_" + std::to_string(i), stream);
      });
    }
    for (auto& thread : threads) thread.join();
  });
  EXPECT_THAT(recording.losses, testing::IsEmpty());
  std::map<std::uint64_t, EventIndex> launch_of;
  for (const EventIndex launch : events_of(recording, EventKind::kRuntime)) launch_of[recording.events.link[launch]] = launch;
  std::map<std::string, EventIndex> op_of;
  for (const EventIndex op : events_of(recording, EventKind::kOp)) op_of[std::string(recording.name(op))] = op;
  const auto kernels = events_of(recording, EventKind::kKernel);
  ASSERT_EQ(kernels.size(), 300u);
  for (const EventIndex kernel : kernels) {
    const std::string name(recording.name(kernel));
    const EventIndex launch = launch_of.at(recording.events.link[kernel]);
    const EventIndex op = op_of.at(name.substr(0, name.find("_kernel")));
    EXPECT_EQ(recording.track_of(launch), recording.track_of(op));
    EXPECT_LE(recording.events.start_ns[op], recording.events.start_ns[launch]);
    EXPECT_LE(recording.events.end_ns(launch), recording.events.end_ns(op));
    const trace::Track& track = recording.tracks[recording.track_of(kernel)];
    EXPECT_EQ(track.kind, trace::Track::Kind::kStream);
    EXPECT_EQ(track.device, (trace::Device{trace::DeviceType::kNpu, 0}));
    EXPECT_EQ(track.id, device::stream_id(streams.at(static_cast<std::size_t>(name[2] - '0'))));
  }
}

// The clock of a session and what drives the device: both are turned by hand.
record::FakeClock hand_turned;
std::uint64_t hand_turned_ns() { return hand_turned.now(); }

TEST(SourceSession, PlacesKernelsWhereTheyReallyRanToWithinTheStatedBound) {
  device::Powered on(
      {.memory_bytes = 4096, .clock = {.ticks_per_ns = 0.1, .drift_ppm = 90}, .host_now = &hand_turned_ns, .keep_truth = true});
  ReferenceSource source;
  std::uint64_t zero = 0;
  const Recording recording = record_with(source, &hand_turned, [&](record::Session&) {
    zero = hand_turned.now();
    record::OpScope(record::intern("zero"));
    for (int i = 0; i < 200; ++i) {
      hand_turned.advance(12'345);
      ASSERT_EQ(device::launch(device::main_stream(), "kernel", [](const device::DeviceView&) { hand_turned.advance(777); }),
                Result::kSuccess);
      ASSERT_EQ(device::synchronize(device::main_stream()), Result::kSuccess);
    }
  });
  const std::int64_t zero_on_timeline = recording.events.start_ns[events_of(recording, EventKind::kOp).at(0)];
  const auto on_timeline = [&](std::uint64_t host_ns) { return static_cast<std::int64_t>(host_ns - zero) + zero_on_timeline; };
  const auto& domains = recording.clock.domains;
  const auto domain = std::find_if(domains.begin(), domains.end(), [](const auto& each) { return each.name == "reference-npu:0"; });
  ASSERT_NE(domain, domains.end());
  EXPECT_NEAR(domain->ticks_per_second, 1e8 * (1 + 90e-6), 1e4);
  EXPECT_LT(domain->error_bound_ns, 100);
  std::map<std::uint64_t, EventIndex> kernel_of;
  for (const EventIndex kernel : events_of(recording, EventKind::kKernel)) kernel_of[recording.events.link[kernel]] = kernel;
  const auto truth = device::take_truth();
  ASSERT_EQ(truth.size(), 200u);
  std::int64_t worst = 0;
  for (const device::Truth& work : truth) {
    const EventIndex kernel = kernel_of.at(work.correlation);
    worst = std::max({worst, std::abs(recording.events.start_ns[kernel] - on_timeline(work.start_ns)),
                      std::abs(recording.events.end_ns(kernel) - on_timeline(work.end_ns))});
  }
  EXPECT_LE(worst, domain->error_bound_ns);
}

TEST(SourceSession, AccountsForEveryRecordThatIsMissing) {
  device::Powered on({.memory_bytes = 4096, .delivery = {.drop_every = 7}});
  ReferenceSource source;
  const Recording recording = record_with(source, nullptr, [](record::Session&) {
    for (int i = 0; i < 300; ++i) run_op("op", device::main_stream());
  });
  const std::uint64_t launches = events_of(recording, EventKind::kRuntime).size();
  const std::uint64_t kernels = events_of(recording, EventKind::kKernel).size();
  auto losses = losses_of(recording);
  EXPECT_EQ(losses[LossReason::kDeviceDropped], 85u);
  EXPECT_EQ(launches + kernels + losses[LossReason::kDeviceDropped], 600u);
  EXPECT_EQ(launches - losses[LossReason::kNoDeviceRecord], kernels - losses[LossReason::kNoLaunch]);
  EXPECT_GT(losses[LossReason::kNoDeviceRecord] + losses[LossReason::kNoLaunch], 0u) << "85 records cannot all be pairs";
}

// Few small buffers: without handing over their records, the device would soon find none free and drop records.
TEST(SourceSession, ASessionThatSpillsNeedsNoMoreBuffersTheLongerItRuns) {
  constexpr std::size_t kLaunches = 20'000;
  const std::string path = testing::TempDir() + "mindtorch_source_session_" + std::to_string(::getpid()) + ".mtrec";
  device::Powered on;
  ReferenceSource source({.buffer_bytes = std::size_t{16} << 10, .max_buffers = 4});
  auto session = record::Session::prepare(
      {.budget = {.policy = record::Budget::Policy::kSpill, .bytes = std::int64_t{2} << 20, .spill_path = path}, .sources = {&source}});
  session->start();
  for (std::size_t i = 0; i < kLaunches; ++i) {
    run_op("op", device::main_stream());
    if (i % 1000 == 0) {
      ASSERT_EQ(device::flush(), Result::kSuccess);  // the device, too, keeps a limited number of records
    }
  }
  const Recording summary = session->stop();
  const Recording recording = ingest::load_recording(path, {.max_memory = ingest::kUnlimitedMemory}).recording;
  ::unlink(path.c_str());
  EXPECT_THAT(summary.losses, testing::IsEmpty());
  EXPECT_EQ(trace::check_invariants(recording), "");
  EXPECT_EQ(events_of(recording, EventKind::kKernel).size(), kLaunches);
  EXPECT_EQ(events_of(recording, EventKind::kOp).size(), kLaunches);
  EXPECT_EQ(events_of(recording, EventKind::kRuntime).size(), kLaunches);
}

TEST(SourceSession, ReportsLaunchesWhoseKernelNeverRan) {
  device::Powered on;
  ReferenceSource source;
  const Recording recording = record_with(source, nullptr, [](record::Session&) {
    device::Gate gate;
    ASSERT_EQ(device::launch(device::main_stream(), "hold", gate.kernel()), Result::kSuccess);
    ASSERT_EQ(device::launch(device::main_stream(), "throw", [](const device::DeviceView&) { throw 1; }), Result::kSuccess);
    for (int i = 0; i < 5; ++i) run_op("op", device::main_stream());
    gate.open();
    ASSERT_EQ(device::synchronize(device::main_stream()), Result::kKernelFailed);
  });
  EXPECT_EQ(losses_of(recording), (std::map<LossReason, std::uint64_t>{{LossReason::kNoDeviceRecord, 5}}));
}

TEST(SourceSession, SwitchesTheSourceOffAndOn) {
  device::Powered on;
  ReferenceSource source;
  const Recording recording = record_with(source, nullptr, [](record::Session& session) {
    run_op("first", device::main_stream());
    session.toggle_source(trace::DeviceType::kNpu, false);
    run_op("hidden", device::main_stream());
    session.toggle_source(trace::DeviceType::kNpu, true);
    run_op("second", device::main_stream());
  });
  EXPECT_EQ(events_of(recording, EventKind::kOp).size(), 3u) << "host events are not affected";
  EXPECT_EQ(events_of(recording, EventKind::kKernel).size(), 2u);
  EXPECT_THAT(recording.losses, testing::IsEmpty());
}

TEST(SourceSession, GoesOnWithoutADeviceAndSaysWhy) {
  ReferenceSource source;
  auto session = record::Session::prepare({.sources = {&source}});
  EXPECT_THAT(session->source_problems(), testing::ElementsAre(testing::HasSubstr("MINDTORCH_NPU=reference")));
  session->start();
  record::OpScope(record::intern("op"));
  EXPECT_EQ(session->stop().events.size(), 1u);
}

}  // namespace
}  // namespace mindtorch::sources

// The cost of recording: a scope of each kind compared with the floor (two reads of the hardware counter and one 32-byte store into
// recycled memory, in the same loop), and the cost of stopping a session. record.py runs this program under callgrind for the instruction
// counts.
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "benchmarks/harness.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/record/input_writer.h"
#include "mindtorch/record/session.h"

namespace mindtorch::record {
namespace {

using namespace mindtorch::benchmarks;

constexpr std::int64_t kPairs = 400'000;
constexpr int kRounds = 31;
constexpr std::int64_t kRing = std::int64_t{1} << 20;

// The hardware counter without the question whether it can be trusted: callgrind hides the answer.
class BareClock : public Clock {
 public:
  std::string_view name() const override { return "bare"; }
  bool is_hardware() const override { return true; }
  std::uint64_t ticks() noexcept override { return hardware_ticks(); }
  ClockSample sample() override { return system_clock().sample(); }
  double ns_per_tick() override { return system_clock().ns_per_tick(); }
} bare_clock;

const NameId kOpName = intern("aten::add");

// The floor: one chunk per thread, written again and again.
double floor_pairs(std::int64_t count) {
  constexpr std::size_t kSlots = (std::size_t{128} << 10) / sizeof(Slot);
  alignas(64) thread_local static Slot chunk[kSlots];
  std::size_t at = 0;
  return cpu_ns_per_op(count, [&] {
    Slot& slot = chunk[at];
    slot.name = kOpName;
    slot.kind = EventKind::kOp;
    slot.link = 0;
    slot.start = hardware_ticks();
    slot.end = hardware_ticks();
    keep(slot);
    at = (at + 1) % kSlots;
  });
}

double scope_pairs(std::int64_t count) {
  return cpu_ns_per_op(count, [] { OpScope scope(kOpName); });
}

double named_pairs(std::int64_t count) {
  // A text the compiler cannot see through, as from a user's program.
  std::string_view name = "forward/encoder/layer_7";
  keep(name);
  return cpu_ns_per_op(count, [&] { NamedScope scope(name); });
}

double pairs_with_shapes(std::int64_t count) {
  const std::int64_t sizes[] = {8, 16, 32, 64}, strides[] = {32768, 2048, 64, 1};
  return cpu_ns_per_op(count, [&] {
    OpScope scope(kOpName);
    if (scope.wants(kShapes)) {
      InputWriter inputs(scope);
      inputs.tensor(trace::ScalarType::kFloat, sizes, strides, 4, false);
      inputs.tensor(trace::ScalarType::kFloat, sizes, strides, 4, false);
    }
  });
}

SessionOptions ring() {
  SessionOptions options;
  options.budget = {.policy = Budget::Policy::kKeepLast, .bytes = kRing};
  options.clock = &bare_clock;
  return options;
}

std::unique_ptr<Session> started(SessionOptions options) {
  auto session = Session::prepare(std::move(options));
  session->start();
  return session;
}

// Checks that the measured work was done.
void expect(bool recorded, std::string_view name) {
  if (!recorded) throw std::runtime_error(fmt::format("{}: the events are not in the recording", name));
}

template <class Loop>
void against_floor(std::string_view name, SessionOptions options, Loop loop, std::string note = "memory recycled (ring of 1 MiB)") {
  const bool shapes = options.shapes;
  const auto session = started(std::move(options));
  const Comparison c = compare([&] { return loop(kPairs); }, [] { return floor_pairs(kPairs); }, kRounds);
  const trace::Recording recording = session->stop();
  expect(recording.events.size() > 1000 && (!shapes || recording.inputs.events.size() == recording.events.size()), name);
  print_result(
      {.name = name, .ours = c.ours, .peer = "floor", .peer_value = c.peer, .ratio = c.ratio, .unit = "ns", .note = std::move(note)});
}

// A second thread that does what the first does, at the same time.
class Companion {
 public:
  Companion() : thread_([this] { run(); }) {}
  ~Companion() {
    loop_ = nullptr;
    together_.arrive_and_wait();
    thread_.join();
  }
  // The time of the slower of the two threads.
  double on_both(double (*loop)(std::int64_t)) {
    loop_ = loop;
    together_.arrive_and_wait();
    const double mine = loop(kPairs);
    together_.arrive_and_wait();
    return std::max(mine, its_);
  }

 private:
  void run() {
    for (;;) {
      together_.arrive_and_wait();
      if (loop_ == nullptr) return;
      its_ = loop_(kPairs);
      together_.arrive_and_wait();
    }
  }
  std::barrier<> together_{2};
  double (*loop_)(std::int64_t) = nullptr;
  double its_ = 0;
  std::thread thread_;
};

void two_threads() {
  const auto session = started(ring());
  Companion companion;
  const Comparison c = compare([&] { return companion.on_both(scope_pairs); }, [&] { return companion.on_both(floor_pairs); }, kRounds);
  print_result({.name = "record/scope_pair_two_threads",
                .ours = c.ours,
                .peer = "floor on two threads",
                .peer_value = c.peer,
                .ratio = c.ratio,
                .unit = "ns",
                .note = "the slower of two threads"});
}

// Every round records into memory that the process has not touched. Therefore each round runs in a child of the same small process.
double growing_pairs(std::int64_t count) {
  int channel[2];
  if (::pipe(channel) != 0) return 0;
  const pid_t child = ::fork();
  if (child == 0) {
    SessionOptions options;
    options.clock = &bare_clock;
    const auto session = started(options);
    const double ns = scope_pairs(count);
    const bool sent = ::write(channel[1], &ns, sizeof(ns)) == sizeof(ns);
    ::_exit(sent ? 0 : 1);
  }
  ::close(channel[1]);
  double ns = 0;
  if (::read(channel[0], &ns, sizeof(ns)) != sizeof(ns)) ns = 0;
  ::close(channel[0]);
  ::waitpid(child, nullptr, 0);
  return ns;
}

void growing_memory() {
  const Comparison c = compare([] { return growing_pairs(4 * kPairs); }, [] { return floor_pairs(4 * kPairs); }, 15);
  print_result({.name = "record/growing_memory",
                .ours = c.ours,
                .peer = "floor",
                .peer_value = c.peer,
                .ratio = c.ratio,
                .unit = "ns",
                .note = "nothing recycled: 1.6 million scopes into memory the process never touched"});
}

void session_costs() {
  constexpr std::int64_t kEvents = 1'000'000;
  std::vector<double> stop_ns, bytes;
  for (int round = 0; round < 9; ++round) {
    SessionOptions options;
    options.clock = &bare_clock;
    const auto session = started(options);
    scope_pairs(kEvents);
    bytes.push_back(static_cast<double>(session->bytes_in_use()) / kEvents);
    trace::Recording recording;
    stop_ns.push_back(cpu_ns_per_op(1, [&] { recording = session->stop(); }) / kEvents);
    expect(recording.events.size() == kEvents, "record/stop_ns_per_event");
  }
  print_result(
      {.name = "record/bytes_per_event", .ours = median(bytes), .unit = "bytes", .note = "in memory while recording, 1,000,000 events"});
  print_result({.name = "record/stop_ns_per_event",
                .ours = median(stop_ns),
                .unit = "ns",
                .note = "from stop() to a Recording in columns, 1,000,000 events"});
}

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

// A long run: memory must not grow with it. The file is removed afterwards.
void spilling() {
  constexpr std::int64_t kEvents = 100'000'000, kPiece = 1'000'000;
  const std::string path = (std::filesystem::temp_directory_path() / fmt::format("mindtorch_bench_{}.mtrec", ::getpid())).string();
  SessionOptions options;
  options.budget = {.policy = Budget::Policy::kSpill, .bytes = 16 * kRing, .spill_path = path};
  options.clock = &bare_clock;
  const auto session = started(options);
  scope_pairs(kPiece);
  const std::int64_t before = resident_bytes();
  std::int64_t most = before;
  const double ns = ns_per_op(kEvents / kPiece - 1,
                              [&] {
                                scope_pairs(kPiece);
                                most = std::max(most, resident_bytes());
                              }) /
                    kPiece;
  const trace::Recording summary = session->stop();
  expect(summary.losses.empty(), "record/spill");
  const double bytes = static_cast<double>(std::filesystem::file_size(path));
  std::filesystem::remove(path);
  print_result({.name = "record/spill_memory_growth",
                .ours = static_cast<double>(most - before) / kRing,
                .unit = "MiB",
                .note = "growth of the process between 1 million and 100 million events, budget 16 MiB, nothing lost"});
  print_result({.name = "record/spill_ns_per_event",
                .ours = ns,
                .unit = "ns",
                .note = fmt::format("wall clock, waits for the disk included; {:.2f} bytes per event in the file", bytes / kEvents)});
}

// The loops whose instructions record.py counts.
[[gnu::noinline]] void counted_empty(std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) asm volatile("" ::: "memory");
}
[[gnu::noinline]] void counted_scopes(std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    OpScope scope(kOpName);
    asm volatile("" ::: "memory");
  }
}

int run_counted(int argc, char** argv) {
  const std::string_view what = argc > 2 ? argv[2] : "";
  const std::int64_t count = argc > 3 ? std::atoll(argv[3]) : 0;
  if (what == "empty") return counted_empty(count), 0;
  if (what == "idle") return counted_scopes(count), 0;
  if (what != "recording") return 2;
  const auto session = started(ring());
  counted_scopes(count);
  return 0;
}

void run_all() {
  against_floor("record/scope_pair", ring(), scope_pairs);
  two_threads();
  against_floor("record/scope_by_name", ring(), named_pairs);
  SessionOptions with_shapes = ring();
  with_shapes.shapes = true;
  against_floor("record/scope_with_shapes", with_shapes, pairs_with_shapes, "2 tensors of 4 dimensions with strides; ring of 1 MiB");
  growing_memory();
  session_costs();
  spilling();
}

}  // namespace
}  // namespace mindtorch::record

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--counted") == 0) return mindtorch::record::run_counted(argc, argv);
  mindtorch::record::run_all();
}

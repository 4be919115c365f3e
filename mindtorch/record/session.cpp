// Session: prepare -> start -> stop.
#include "mindtorch/record/session.h"

#include <unistd.h>

#include <atomic>
#include <new>

#include "mindtorch/base/error.h"
#include "mindtorch/record/assemble.h"
#include "mindtorch/record/block_pool.h"
#include "mindtorch/record/event_ids.h"
#include "mindtorch/record/foreign_host.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/record/host.h"
#include "mindtorch/record/registry.h"
#include "mindtorch/record/segments.h"
#include "mindtorch/record/session_core.h"
#include "mindtorch/record/session_sources.h"
#include "mindtorch/record/spill.h"
#include "mindtorch/record/stack_provider.h"
#include "mindtorch/record/thread_attach.h"
#include "mindtorch/record/thread_sampler.h"

namespace mindtorch::record {
namespace {

// Free memory kept for the next session; the rest goes back to the system at stop.
constexpr std::size_t kKeptBytes = std::size_t{8} << 20;

std::atomic<RecordingListener*> listener{nullptr};

// The clock that hooks read when it is not the hardware counter. It outlives the last hook of the session, because it stays set after stop,
// until the next session sets its own.
std::atomic<Clock*> session_clock{nullptr};

std::uint64_t state_for(const SessionOptions& options, const SessionCore& core) {
  std::uint64_t wants = kEvents;
  if (core.clock.is_hardware()) wants |= kInlineTicks;
  if (options.shapes) wants |= kShapes;
  if (options.stacks) wants |= kStacks;
  if (options.memory) wants |= kMemory;
  if (options.modules) wants |= kModules;
  if (options.overloads) wants |= kOverloads;
  if (options.ranges) wants |= kRanges;
  if (!options.all_threads) wants |= kOneThread;
  return (static_cast<std::uint64_t>(core.generation) << 32) | wants;
}

// Runs a part of the end of a session. Whatever goes wrong in it, the process must be free for the next session.
template <class Call>
void attempt(Call&& call) noexcept {
  try {
    call();
  } catch (const std::exception&) {
    // There is no memory, and what is missing is counted elsewhere.
  }
}

// The sampler is one more source. Without one, the interval is 0: the recording does not claim to have samples.
void prepare_sampler(SessionOptions& options, SessionSources& sources) {
  if (options.sampling_interval.count() <= 0) return;
  ActivitySource* const sampler = thread_sampler();
  const Status status = sampler != nullptr ? sampler->probe() : Status::unavailable("this program has no sampler of threads");
  if (status) {
    options.sources.push_back(sampler);
  } else {
    sources.add_problem(fmt::format("threads are not sampled: {}", status.reason()));
    options.sampling_interval = {};
  }
}

}  // namespace

std::uint64_t clock_ticks_slow() noexcept {
  Clock* clock = session_clock.load(std::memory_order_acquire);
  return clock != nullptr ? clock->ticks() : monotonic_clock().ticks();
}

class Session::Impl {
 public:
  enum class Phase { kPrepared, kRunning, kStopped };

  explicit Impl(SessionOptions asked)
      : options(std::move(asked)),
        core(options, Registry::instance().next_generation()),
        state(state_for(options, core)),
        pid(::getpid()) {}

  ~Impl() {
    if (pid != ::getpid()) {
      // A copy in a forked child: the session belongs to the parent, and the spill thread does not exist here.
      if (spill) spill.release()->abandon();  // leaked: its thread and locks are the parent's
      return;
    }
    if (phase == Phase::kRunning) release(halt());
    if (phase != Phase::kStopped) Registry::instance().unclaim(&core);
  }

  void require(Phase wanted, std::string_view call, std::string_view why) const {
    if (pid != ::getpid()) throw_error(call, "this session belongs to the parent process; after fork() the child records nothing");
    if (phase != wanted) throw_error(call, "{}", why);
  }

  SourceOptions source_options(const ActivitySource& source) {
    std::function<void(DeviceBatch&)> write_records;
    if (spill) write_records = [this, name = std::string(source.name())](DeviceBatch& batch) { spill->write_records(name, batch); };
    return {.clock = core.clock,
            .record_bytes = core.budget.bytes,
            .window_start = [this] { return core.window_start(); },
            .write_records = std::move(write_records),
            .synchronizations = options.device.synchronizations,
            .whole_graphs = options.device.whole_graphs,
            .stop_deadline = options.device.stop_deadline,
            .extras = options.device.extras,
            .sampling_interval = options.sampling_interval};
  }

  void set_state(std::uint64_t word) const { state_word.store(word, std::memory_order_seq_cst); }

  void start();
  // Ends recording on every thread and takes the recorded data.
  SealedLogs halt() noexcept;
  // What is known of the recording before its events.
  trace::Recording about() const;
  trace::Recording assembled(const SealedLogs& logs, std::uint64_t window_start, std::uint64_t end_ticks);
  // The same for a session that has stopped. If there is not enough memory for a recording of all events, it is one of the newest: their
  // number is halved until they fit, and the blocks of the others are released.
  trace::Recording assembled_if_possible(SealedLogs& logs);
  std::uint64_t drop_older_half(SealedLogs& logs);  // returns the number of events
  void release(const SealedLogs& logs) noexcept;

  SessionOptions options;
  SessionCore core;
  std::unique_ptr<SpillWriter> spill;  // policy spill only
  const std::uint64_t state;
  const pid_t pid;
  Phase phase = Phase::kPrepared;
  bool events_on = false;
  std::uint64_t stop_ticks = 0;
  std::uint64_t without_memory = 0;  // events that were dropped when the recording stopped
  SessionSources sources;
  std::vector<trace::MemoryBaseline> baselines;
};

void Session::Impl::start() {
  if (options.stacks && stack_provider() != nullptr) stack_provider()->session_begins();
  phase = Phase::kRunning;  // if something fails below, the session is halted like one that runs
  for (Host* host : hosts()) {
    const Status status = host->session_starts(static_cast<std::uint32_t>(state));
    if (!status) sources.add_problem(fmt::format("host {}: {}", host->name(), status.reason()));
  }
  sources.start();
  session_clock.store(&core.clock, std::memory_order_release);
  core.sample_clock();
  Registry::instance().open(&core);
  events_on = options.events;
  // This thread joins now, so that its first event costs no more than later ones.
  Log* log = attached_log(state);
  if (!options.all_threads && thread_log->storage != nullptr) {
    thread_log->storage->admitted_generation = core.generation;  // the starting thread is the one that records
    log = attached_log(state);
  }
  if (events_on && log != nullptr) new_segment(*log, log->cold.refused);
  if (options.memory) {
    // Last, because sources may take long to start, and other threads allocate meanwhile.
    for (Host* host : hosts())
      for (const trace::MemoryBaseline& baseline : host->memory_totals()) baselines.push_back(baseline);
  }
  if (events_on) set_state(state);
  if (spill) spill->begin(about());
}

SealedLogs Session::Impl::halt() noexcept {
  set_state(0);
  stop_ticks = core.clock.ticks();
  core.sample_clock();
  phase = Phase::kStopped;
  SealedLogs logs = Registry::instance().close(&core);
  attempt([] {
    for (Host* host : hosts()) host->session_stops();
  });
  return logs;
}

trace::Recording Session::Impl::about() const {
  trace::Recording about;
  about.memory_baselines = baselines;
  if (without_memory > 0)
    about.losses.push_back(
        {trace::LossReason::kBudget, without_memory, "", "there was no memory left to read them when the recording stopped"});
  about.options = {.shapes = options.shapes,
                   .stacks = options.stacks,
                   .memory = options.memory,
                   .modules = options.modules,
                   .sampling_interval_ns = options.sampling_interval.count()};
  return about;
}

trace::Recording Session::Impl::assembled(const SealedLogs& logs, std::uint64_t window_start, std::uint64_t end_ticks) {
  const Ingredients ingredients{logs, sources.batches(), core, window_start, end_ticks, options.stacks ? stack_provider() : nullptr};
  if (spill) return spill->finish(ingredients, about());
  trace::Recording recording = assemble(ingredients, about());
  assign_event_ids(recording);
  return recording;
}

trace::Recording Session::Impl::assembled_if_possible(SealedLogs& logs) {
  for (;;) {
    try {
      return assembled(logs, core.window_start(), stop_ticks);
    } catch (const std::bad_alloc&) {
      const std::uint64_t dropped = spill ? 0 : drop_older_half(logs);  // what was spilled is safe in its file
      if (dropped == 0) throw;
      without_memory += dropped;
    }
  }
}

std::uint64_t Session::Impl::drop_older_half(SealedLogs& logs) {
  std::uint64_t dropped = 0;
  // Threads that have ended may have a segment each.
  const auto drop_thread = logs.logs.begin() + static_cast<std::ptrdiff_t>(logs.logs.size() / 2);
  for (auto log = logs.logs.begin(); log != drop_thread; ++log) {
    if (log->segments.size() != 1) continue;
    dropped += log->segments.front().used;
    core.release(log->segments.front());
    log->segments.clear();
  }
  for (SealedLog& log : logs.logs) {
    const auto kept = log.segments.begin() + static_cast<std::ptrdiff_t>(log.segments.size() / 2);
    for (auto segment = log.segments.begin(); segment != kept; ++segment) {
      dropped += segment->used;
      core.release(*segment);
    }
    log.segments.erase(log.segments.begin(), kept);
  }
  BlockPool::instance().trim(0);
  return dropped;
}

void Session::Impl::release(const SealedLogs& logs) noexcept {
  attempt([this] { sources.stop(stop_ticks); });
  for (const SealedLog& log : logs.logs)
    for (const Segment& segment : log.segments) core.release(segment);
  if (spill)
    for (const auto& [number, block] : spill->take_open_blocks()) Registry::instance().keep_for_thread(number, block);
  BlockPool::instance().trim(kKeptBytes);
  attempt([this] {
    if (options.stacks && stack_provider() != nullptr) stack_provider()->session_resolved();
  });
  Registry::instance().unclaim(&core);
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

std::unique_ptr<Session> Session::prepare(SessionOptions options) {
  auto session = prepare_if_free(std::move(options));
  if (!session) throw_error("record.prepare", "another profiling session is active; stop it first (it goes on unharmed)");
  return session;
}

std::unique_ptr<Session> Session::prepare_if_free(SessionOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  if (!Registry::instance().claim(&impl->core)) {
    impl->phase = Impl::Phase::kStopped;  // nothing to give back
    return nullptr;
  }
  if (impl->options.budget.policy == Budget::Policy::kSpill) {
    impl->spill = std::make_unique<SpillWriter>(impl->core, impl->options);
    impl->core.spill = impl->spill.get();
  }
  prepare_sampler(impl->options, impl->sources);
  impl->sources.prepare(impl->options.sources, [&it = *impl](const ActivitySource& source) { return it.source_options(source); });
  BlockPool::instance().warm();
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

void Session::start() {
  impl_->require(Impl::Phase::kPrepared, "record.start", "the session was started already");
  impl_->start();
}

trace::Recording Session::stop() {
  Impl& impl = *impl_;
  impl.require(Impl::Phase::kRunning, "record.stop",
               impl.phase == Impl::Phase::kPrepared ? "the session was never started" : "the session was stopped already");
  SealedLogs logs = impl.halt();
  struct Release {
    Impl& impl;
    const SealedLogs& logs;
    ~Release() { impl.release(logs); }
  } release{impl, logs};
  impl.sources.stop(impl.stop_ticks);
  trace::Recording recording = impl.assembled_if_possible(logs);
  impl.sources.clear_batches();
  if (RecordingListener* const it = listener.load(std::memory_order_acquire)) it->recorded(recording);
  return recording;
}

// The logs are looked at first. What they held then is older than the end of the snapshot, and the window, which may have moved on since,
// begins no earlier than what a ring had dropped by then.
trace::Recording Session::snapshot(std::chrono::nanoseconds last) {
  Impl& impl = *impl_;
  impl.require(Impl::Phase::kRunning, "record.snapshot", "the session is not running");
  if (impl.spill) throw_error("record.snapshot", "the events of this session go to a file: stop it to read them");
  struct LetGo {
    HeldBlocks& held;
    ~LetGo() { held.let_go(); }
  } let_go{impl.core.held};
  impl.sources.collect(impl.core.clock.ticks(), [&] { return impl.core.window_start(); });
  const SealedLogs logs = Registry::instance().look(&impl.core);
  impl.core.sample_clock();
  const std::uint64_t now = impl.core.clock.ticks();
  return impl.assembled(logs, std::max(impl.core.window_start(), impl.core.ticks_before(now, last)), now);
}

bool set_recording_listener(RecordingListener* it) noexcept {
  if (it == nullptr) {
    listener.store(nullptr, std::memory_order_release);
    return true;
  }
  RecordingListener* none = nullptr;
  return listener.compare_exchange_strong(none, it) || none == it;
}

void Session::toggle_events(bool on) {
  impl_->require(Impl::Phase::kRunning, "record.toggle_events", "the session is not running");
  impl_->events_on = on;
  impl_->set_state(on ? impl_->state : 0);
}

void Session::toggle_source(trace::DeviceType type, bool on) {
  impl_->require(Impl::Phase::kRunning, "record.toggle_source", "the session is not running");
  impl_->sources.toggle(type, on);
}

void Session::mark_step(std::int64_t step) {
  impl_->require(Impl::Phase::kRunning, "record.mark_step", "the session is not running");
  impl_->core.mark_step(impl_->core.clock.ticks(), step);
}

bool Session::running() const { return impl_->phase == Impl::Phase::kRunning && impl_->pid == ::getpid(); }
const std::vector<std::string>& Session::source_problems() const { return impl_->sources.problems(); }
std::int64_t Session::bytes_in_use() const { return impl_->core.bytes(); }

}  // namespace mindtorch::record

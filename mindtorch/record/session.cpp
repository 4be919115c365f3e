// Session: prepare -> start -> stop.
#include "mindtorch/record/session.h"

#include <unistd.h>

#include "mindtorch/base/error.h"
#include "mindtorch/record/assemble.h"
#include "mindtorch/record/block_pool.h"
#include "mindtorch/record/event_ids.h"
#include "mindtorch/record/foreign_host.h"
#include "mindtorch/record/host.h"
#include "mindtorch/record/registry.h"
#include "mindtorch/record/segments.h"
#include "mindtorch/record/session_clock.h"
#include "mindtorch/record/session_core.h"
#include "mindtorch/record/session_sources.h"
#include "mindtorch/record/spill.h"
#include "mindtorch/record/stack_provider.h"
#include "mindtorch/record/thread_attach.h"

namespace mindtorch::record {
namespace {

// Free memory kept for the next session; the rest goes back to the system at stop.
constexpr std::size_t kKeptBytes = std::size_t{8} << 20;

std::atomic<RecordingListener*> listener{nullptr};

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

}  // namespace

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
            .extras = options.device.extras};
  }

  void set_state(std::uint64_t word) const { state_word.store(word, std::memory_order_seq_cst); }

  void start();
  // Ends recording on every thread and takes the recorded data.
  std::vector<SealedLog> halt();
  trace::Recording assembled(const std::vector<SealedLog>& logs, std::uint64_t end_ticks);
  void release(const std::vector<SealedLog>& logs);

  SessionOptions options;
  SessionCore core;
  std::unique_ptr<SpillWriter> spill;  // policy spill only
  const std::uint64_t state;
  const pid_t pid;
  Phase phase = Phase::kPrepared;
  bool events_on = false;
  std::uint64_t stop_ticks = 0;
  SessionSources sources;
  std::vector<trace::MemoryBaseline> baselines;
};

void Session::Impl::start() {
  if (options.stacks && stack_provider() != nullptr) stack_provider()->session_begins();
  for (Host* host : hosts()) {
    const Status status = host->session_starts(static_cast<std::uint32_t>(state));
    if (!status) sources.add_problem(fmt::format("host {}: {}", host->name(), status.reason()));
    if (!options.memory) continue;
    for (const trace::MemoryBaseline& baseline : host->memory_totals()) baselines.push_back(baseline);
  }
  sources.start();
  set_session_clock(&core.clock);
  core.sample_clock();
  Registry::instance().open(&core);
  phase = Phase::kRunning;
  events_on = options.events;
  // This thread joins now, so that its first event costs no more than later ones.
  Log* log = attached_log(state);
  if (!options.all_threads && thread_log->storage != nullptr) {
    thread_log->storage->admitted_generation = core.generation;  // the starting thread is the one that records
    log = attached_log(state);
  }
  if (events_on && log != nullptr) new_segment(*log, log->cold.refused);
  if (events_on) set_state(state);
}

std::vector<SealedLog> Session::Impl::halt() {
  set_state(0);
  stop_ticks = core.clock.ticks();
  core.sample_clock();
  phase = Phase::kStopped;
  std::vector<SealedLog> logs = Registry::instance().close(&core);
  for (Host* host : hosts()) host->session_stops();
  return logs;
}

trace::Recording Session::Impl::assembled(const std::vector<SealedLog>& logs, std::uint64_t end_ticks) {
  const Ingredients ingredients{logs, sources.batches(), core, core.window_start(), end_ticks, options.stacks ? stack_provider() : nullptr};
  trace::Recording about;
  about.memory_baselines = baselines;
  about.options = {.shapes = options.shapes, .stacks = options.stacks, .memory = options.memory, .modules = options.modules};
  if (spill) return spill->finish(ingredients, std::move(about));
  trace::Recording recording = assemble(ingredients, std::move(about));
  sources.complete(recording);
  assign_event_ids(recording);
  return recording;
}

void Session::Impl::release(const std::vector<SealedLog>& logs) {
  sources.stop(stop_ticks);
  for (const SealedLog& log : logs) {
    for (const Segment& segment : log.segments) {
      if (!segment.stays_with_thread) core.release_block(segment.slots);
      for (const SideChunk& chunk : segment.side)
        if (!chunk.stays_with_thread) core.release_block(chunk.words);
    }
  }
  if (spill)
    for (const auto& [number, block] : spill->take_open_blocks()) Registry::instance().keep_for_thread(number, block);
  BlockPool::instance().trim(kKeptBytes);
  if (options.stacks && stack_provider() != nullptr) stack_provider()->session_resolved();
  Registry::instance().unclaim(&core);
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

std::unique_ptr<Session> Session::prepare(SessionOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  if (!Registry::instance().claim(&impl->core)) {
    impl->phase = Impl::Phase::kStopped;  // nothing to give back
    throw_error("record.prepare", "another profiling session is active; stop it first (it goes on unharmed)");
  }
  if (impl->options.budget.policy == Budget::Policy::kSpill) {
    impl->spill = std::make_unique<SpillWriter>(impl->core, impl->options);
    impl->core.spill = impl->spill.get();
  }
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
  const std::vector<SealedLog> logs = impl.halt();
  // Whatever goes wrong below, the process must be free for the next session.
  struct Release {
    Impl& impl;
    const std::vector<SealedLog>& logs;
    ~Release() { impl.release(logs); }
  } release{impl, logs};
  impl.sources.stop(impl.stop_ticks);
  trace::Recording recording = impl.assembled(logs, impl.stop_ticks);
  impl.sources.clear_batches();
  if (RecordingListener* const it = listener.load(std::memory_order_acquire)) it->recorded(recording);
  return recording;
}

// The logs are looked at first. What they held then is older than the end of the snapshot, and the window, which may have moved on since,
// begins no earlier than what a ring had dropped by then.
trace::Recording Session::snapshot() {
  Impl& impl = *impl_;
  impl.require(Impl::Phase::kRunning, "record.snapshot", "the session is not running");
  if (impl.spill) throw_error("record.snapshot", "the events of this session go to a file: stop it to read them");
  struct LetGo {
    HeldBlocks& held;
    ~LetGo() { held.let_go(); }
  } let_go{impl.core.held};
  impl.sources.collect(impl.core.clock.ticks(), [&] { return impl.core.window_start(); });
  const std::vector<SealedLog> logs = Registry::instance().look(&impl.core);
  impl.core.sample_clock();
  return impl.assembled(logs, impl.core.clock.ticks());
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

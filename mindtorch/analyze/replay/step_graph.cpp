// Threads are cut where something else begins or ends because of them; what each stretch waited for is read off the recorded times.
#include "mindtorch/analyze/replay/step_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "mindtorch/base/text.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;
using trace::TrackId;

constexpr std::int64_t kClockErrorNs = 2'000;   // of device times
constexpr std::int64_t kUsualGapNs = 1'000;     // between two pieces of work on a stream
constexpr std::int64_t kUsualLaunchNs = 5'000;  // from a call to its work on an idle stream, if none was recorded
constexpr std::int64_t kLateNs = 50'000;        // work that begins later than that after all it waits for has another reason
constexpr std::int64_t kHandoverNs = 20'000;    // from the end of work on one stream to work on another that waited for it
constexpr std::int64_t kShortCallNs = 20'000;   // a shorter call of the allocator has not waited for the device
constexpr std::int64_t kRealWaitNs = 50'000;    // a loop that waits for less than that finds its batch ready
constexpr std::ptrdiff_t kFullQueue = 500;      // a launch that takes long while so much work is queued waits for room
constexpr double kMostWithoutLaunch = 0.03;     // of the time of devices

// A thread waits, and does nothing else.
bool is_thread_wait(Cause cause) {
  return cause == Cause::kBackward || cause == Cause::kCollective || cause == Cause::kThread || cause == Cause::kLock;
}

// A thread without an event that is not known to run.
bool is_idle(const Segment& segment) {
  return segment.event == kNoEvent && (is_without_work(segment.cause) || is_thread_wait(segment.cause) || segment.cause == Cause::kSleep ||
                                       segment.cause == Cause::kNotRunning || segment.cause == Cause::kIo);
}

// Copies between host and device can run beside kernels.
std::optional<Beside> beside_of(DevicePhase phase, EventKind kind, std::string_view name) {
  if (phase == DevicePhase::kCollective) return Beside::kCollectives;
  if (kind == EventKind::kMemcpy && !contains(name, "DtoD") && !contains(name, "Device -> Device")) return Beside::kCopies;
  return std::nullopt;
}

std::optional<Beside> beside_of(Cause cause) {
  if (cause == Cause::kCollective) return Beside::kCollectives;
  if (cause == Cause::kLoading) return Beside::kLoading;
  return std::nullopt;
}

}  // namespace

class StepGraph::Builder {
 public:
  Builder(StepGraph& graph, const Analysis& analysis, const Phases& phases, const Ledger& ledger, const TimeClasses& classes)
      : graph_(graph),
        analysis_(analysis),
        recording_(analysis.recording()),
        events_(recording_.events),
        phases_(phases),
        attribution_(phases.attribution()),
        ledger_(ledger),
        classes_(classes) {}

  void build() {
    graph_.problem_ = problem_of_recording();
    if (!graph_.problem_.empty()) return;
    graph_.steps_ = ledger_.steps();
    look_at_names();
    find_windows();
    find_work();
    if (!graph_.problem_.empty()) return;
    find_threads();
    for (std::size_t k = 0; k < spans_.size(); ++k) add_window(k);
  }

 private:
  enum class WaitKind : std::uint8_t { kNone, kThread, kLoader, kDevice, kCopy, kQueue };
  struct Draft {
    Node node;
    std::int64_t start_ns, end_ns;
    EventIndex event = kNoEvent;  // of a wait: the call
    WaitKind wait = WaitKind::kNone;
  };
  struct DraftEdge {
    std::int32_t from, to;  // `to` waits for `from`
    std::int64_t lag_ns;
  };
  // A stretch of time that is judged, without gaps.
  struct Span {
    std::int64_t start_ns, end_ns;
    std::size_t first_stretch, end_stretch;
  };
  struct Work {
    EventIndex event, call;
    std::int64_t start_ns, end_ns, call_ns;
    TrackId thread;
    DevicePhase phase;
    std::optional<Beside> beside;
    std::int32_t draft = kNoNode;
  };
  struct Stream {
    TrackId track;
    std::vector<Work> work;                    // launched in the window, in order of start
    std::vector<std::vector<Work>> by_window;  // and of all windows
    std::vector<std::int64_t> busy_until;      // by window: the end of what was launched before it
  };
  struct Thread {
    TrackId track;
    std::vector<bool> glue;
    std::vector<std::int32_t> drafts;       // of the window, in order of time
    std::vector<std::int64_t> event_waits;  // when it told a stream to wait for another
  };

  std::string problem_of_recording() const {
    if (recording_.tracks.empty() || ledger_.total_ns() == 0) return "nothing was recorded";
    if (!phases_.has_steps()) return "the recording has no steps";
    if (phases_.judged_tracks().size() > 1) return "several threads do the work of the program";
    std::uint64_t lost = 0;
    for (const trace::Loss& loss : recording_.losses) {
      if (loss.reason == trace::LossReason::kDamagedFile) return "the recording is damaged";
      if (loss.reason == trace::LossReason::kBudget || loss.reason == trace::LossReason::kSpillFailed ||
          loss.reason == trace::LossReason::kDeviceDropped || loss.reason == trace::LossReason::kThreadExit)
        lost += loss.count;
    }
    if (lost > 0) return fmt::format("{} events were lost", lost);
    return {};
  }

  // --- what is there ---

  void look_at_names() {
    const std::size_t count = recording_.names.size();
    is_sync_.resize(count), may_free_.resize(count), is_async_copy_.resize(count), is_event_wait_.resize(count),
        is_worker_wait_.resize(count);
    for (std::size_t k = 0; k < count; ++k) {
      const std::string& name = recording_.names[k];
      is_sync_[k] = contains(name, "Synchronize");
      may_free_[k] = contains(name, "Malloc") || contains(name, "Free");
      is_async_copy_[k] = contains(name, "Async");
      is_event_wait_[k] = contains(name, "StreamWaitEvent");
      is_worker_wait_[k] = name == "DataLoader.wait" || contains(name, "_MultiProcessingDataLoaderIter");
      has_wait_scopes_ |= name == "DataLoader.wait";
    }
  }

  void find_windows() {
    const auto stretches = ledger_.stretches();
    for (std::size_t k = 0; k < stretches.size(); ++k) {
      const bool goes_on = !spans_.empty() && spans_.back().end_ns == stretches[k].start_ns;
      if (!goes_on) spans_.push_back({stretches[k].start_ns, stretches[k].end_ns, k, k});
      spans_.back().end_ns = stretches[k].end_ns;
      spans_.back().end_stretch = k + 1;
    }
  }

  std::ptrdiff_t window_at(std::int64_t time) const {
    const auto after = std::ranges::upper_bound(spans_, time, {}, &Span::start_ns);
    if (after == spans_.begin() || time >= (after - 1)->end_ns) return -1;
    return after - 1 - spans_.begin();
  }

  static DevicePhase phase_of(EventKind kind, std::string_view name) {
    if (kind == EventKind::kCollective || is_collective_name(name)) return DevicePhase::kCollective;
    return kind == EventKind::kMemcpy || kind == EventKind::kMemset ? DevicePhase::kCopy : DevicePhase::kCompute;
  }

  void find_work() {
    if (!phases_.has_device_work()) return;
    has_work_.assign(events_.size(), false);
    std::int64_t all = 0, without_launch = 0;
    for (TrackId t = 0; t < recording_.tracks.size(); ++t) {
      const trace::Track& track = recording_.tracks[t];
      if (track.kind != trace::Track::Kind::kStream) continue;
      Stream stream{.track = t, .by_window = std::vector<std::vector<Work>>(spans_.size())};
      stream.busy_until.assign(spans_.size(), 0);
      for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
        if (!is_device_work(events_.kind[i])) continue;
        const EventIndex call = analysis_.launches().launch_of(i);
        all += events_.duration_ns[i];
        if (call == kNoEvent) {
          without_launch += events_.duration_ns[i];
          continue;
        }
        add_work(stream, i, call);
      }
      std::inclusive_scan(stream.busy_until.begin(), stream.busy_until.end(), stream.busy_until.begin(),
                          [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
      streams_.push_back(std::move(stream));
    }
    if (static_cast<double>(without_launch) > kMostWithoutLaunch * static_cast<double>(all))
      graph_.problem_ = fmt::format("the calls that launched {:.0f} % of the work on the device are not in the recording",
                                    100.0 * static_cast<double>(without_launch) / static_cast<double>(all));
  }

  void add_work(Stream& stream, EventIndex event, EventIndex call) {
    const DevicePhase phase = phase_of(events_.kind[event], recording_.name(event));
    const Work work{.event = event,
                    .call = call,
                    .start_ns = events_.start_ns[event],
                    .end_ns = events_.end_ns(event),
                    .call_ns = events_.start_ns[call],
                    .thread = recording_.track_of(call),
                    .phase = phase,
                    .beside = beside_of(phase, events_.kind[event], recording_.name(event))};
    const std::ptrdiff_t window = window_at(work.call_ns);
    if (window >= 0) {
      has_work_[call] = true;
      stream.by_window[static_cast<std::size_t>(window)].push_back(work);
    }
    const auto later = std::ranges::upper_bound(spans_, work.call_ns, {}, &Span::start_ns) - spans_.begin();
    if (later < std::ssize(spans_)) {
      std::int64_t& busy_until = stream.busy_until[static_cast<std::size_t>(later)];
      busy_until = std::max(busy_until, work.end_ns);
    }
  }

  // The main thread, and those of its process that launch work or evaluate autograd nodes.
  void find_threads() {
    const TrackId main = phases_.main_track();
    std::vector<bool> is_needed(recording_.tracks.size(), false);
    for (const Stream& stream : streams_)
      for (const auto& works : stream.by_window)
        for (const Work& work : works) is_needed[work.thread] = true;
    for (TrackId t = 0; t < recording_.tracks.size(); ++t) {
      const trace::Track& track = recording_.tracks[t];
      if (track.kind != trace::Track::Kind::kThread || track.pid != recording_.tracks[main].pid) continue;
      for (EventIndex i = track.first_event; i < track.first_event + track.event_count && !is_needed[t]; ++i)
        is_needed[t] = events_.kind[i] == EventKind::kBackward;
    }
    add_thread(main);
    for (TrackId t = 0; t < recording_.tracks.size(); ++t)
      if (is_needed[t] && t != main) add_thread(t);
  }

  void add_thread(TrackId t) {
    Thread thread{.track = t, .glue = glue_of(attribution_.of(t))};
    const trace::Track& track = recording_.tracks[t];
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i)
      if (is_event_wait_[events_.name[i]]) thread.event_waits.push_back(events_.start_ns[i]);
    thread_ids_[t] = threads_.size();
    threads_.push_back(std::move(thread));
  }

  // --- one window ---

  void add_window(std::size_t window) {
    span_ = spans_[window];
    window_ = window;
    drafts_.clear();
    draft_edges_.clear();
    launched_after_.clear();
    work_of_call_.clear();
    for (Stream& stream : streams_) {
      stream.work = std::move(stream.by_window[window]);
      for (const Work& work : stream.work) work_of_call_.try_emplace(work.call, OwnWork{&stream, &work});
    }
    find_usual_launch();
    for (std::size_t k = 0; k < threads_.size(); ++k) add_host(threads_[k], k == 0);
    for (Stream& stream : streams_) add_stream(stream);
    for (const Stream& stream : streams_) constrain(stream);
    add_waits();
    add_batches();
    take_drafts();
  }

  Draft& at(std::int32_t draft) { return drafts_[static_cast<std::size_t>(draft)]; }
  const Draft& at(std::int32_t draft) const { return drafts_[static_cast<std::size_t>(draft)]; }
  std::int64_t relative(std::int64_t time) const { return time - span_.start_ns; }

  // The work of a call of this thread begins as soon as that on an idle stream.
  void find_usual_launch() {
    std::vector<std::int64_t> lags;
    for (const Stream& stream : streams_) {
      std::int64_t before = stream.busy_until[window_];
      for (const Work& work : stream.work) {
        if (before <= work.call_ns && work.start_ns >= work.call_ns) lags.push_back(work.start_ns - work.call_ns);
        before = work.end_ns;
      }
    }
    usual_launch_ns_ = kUsualLaunchNs;
    if (lags.empty()) return;
    const auto low = lags.begin() + static_cast<std::ptrdiff_t>(lags.size() / 10);
    std::ranges::nth_element(lags, low);
    usual_launch_ns_ = std::min(*low, kHandoverNs);
  }

  // --- threads ---

  // The thread's time in the window, cut into runs of work and waits.
  void add_host(Thread& thread, bool is_main) {
    thread.drafts.clear();
    run_ = kNoNode;
    const std::span<const Segment> all = attribution_.of(thread.track);
    auto at = std::ranges::upper_bound(all, span_.start_ns, {}, &Segment::end_ns);
    std::size_t stretch = span_.first_stretch;
    WaitKind open = WaitKind::kNone;
    EventIndex last_event = kNoEvent;
    for (; at != all.end() && at->start_ns < span_.end_ns; ++at) {
      const bool is_glue = thread.glue[static_cast<std::size_t>(at - all.begin())];
      for (std::int64_t from = std::max(at->start_ns, span_.start_ns); from < std::min(at->end_ns, span_.end_ns);) {
        const Ledger::Stretch& judged = ledger_.stretches()[stretch];
        if (judged.end_ns <= from) {
          ++stretch;
          continue;
        }
        Segment piece = *at;
        piece.start_ns = from;
        piece.end_ns = std::min({at->end_ns, span_.end_ns, judged.end_ns});
        const TimeClass time_class = classes_.of_host({piece, judged.is_between, judged.is_usual, is_glue});
        const WaitKind wait = wait_kind(*at, is_main);
        const bool is_same_wait = wait != WaitKind::kNone && wait == open && (at->event == last_event || is_grouped(wait));
        if (!is_same_wait) open = WaitKind::kNone;
        if (starts_work(*at, last_event)) {
          end_run();
          launched_after_[at->event] = thread.drafts.empty() ? kNoNode : thread.drafts.back();
        }
        if (is_same_wait) {
          extend_wait(piece);
        } else if (wait != WaitKind::kNone) {
          open = wait;
          begin(thread, is_main, piece, wait, time_class);
        } else if (!is_main && is_idle(*at) && !is_inside_main_wait(piece)) {
          end_run();  // until the main thread wakes it up
        } else {
          if (run_ == kNoNode) begin(thread, is_main, piece, WaitKind::kNone, time_class);
          extend_run(piece, time_class);
        }
        last_event = at->event;
        from = piece.end_ns;
      }
    }
    end_run();
  }

  static bool is_grouped(WaitKind wait) { return wait == WaitKind::kThread || wait == WaitKind::kLoader; }

  bool starts_work(const Segment& segment, EventIndex last_event) const {
    return segment.event != kNoEvent && segment.event != last_event && !has_work_.empty() && has_work_[segment.event] &&
           !launched_after_.contains(segment.event);
  }

  void begin(Thread& thread, bool is_main, const Segment& piece, WaitKind wait, TimeClass time_class) {
    const auto draft = static_cast<std::int32_t>(drafts_.size());
    Draft next{.start_ns = relative(piece.start_ns), .end_ns = relative(piece.start_ns), .event = piece.event, .wait = wait};
    next.node.kind = wait == WaitKind::kNone ? Kind::kHost : Kind::kWait;
    next.node.time_class = time_class;
    next.node.is_of_main_thread = is_main;
    next.node.first_term = static_cast<std::uint32_t>(graph_.terms_.size());
    if (wait == WaitKind::kCopy) next.node.beside = Beside::kCopies;
    if (!thread.drafts.empty()) next.node.before = thread.drafts.back();
    if (!is_main) wake_up(thread, next, draft);
    drafts_.push_back(next);
    thread.drafts.push_back(draft);
    run_ = wait == WaitKind::kNone ? draft : kNoNode;
    if (wait != WaitKind::kNone) extend_wait(piece);
  }

  void extend_wait(const Segment& piece) { drafts_.back().end_ns = relative(piece.end_ns); }

  void extend_run(const Segment& piece, TimeClass time_class) {
    Draft& run = at(run_);
    const std::int64_t ns = piece.duration_ns();
    run.end_ns += ns;
    run.node.duration_ns += ns;
    const std::optional<Beside> beside = beside_of(piece.cause);
    if (beside) graph_.has_[static_cast<std::size_t>(*beside)] = true;
    // Programs repeat themselves: most runs have few classes of time.
    for (std::size_t k = run.node.first_term; k < graph_.terms_.size(); ++k) {
      Term& term = graph_.terms_[k];
      if (term.time_class == time_class && term.beside == beside) {
        term.ns += ns;
        return;
      }
      if (k - run.node.first_term > 64) break;
    }
    graph_.terms_.push_back({ns, time_class, beside});
    run.node.term_count = static_cast<std::uint32_t>(graph_.terms_.size()) - run.node.first_term;
  }

  void end_run() { run_ = kNoNode; }

  // Another thread goes on when the main thread gave it work; the recorded time tells where the main thread was then.
  void wake_up(const Thread& thread, Draft& next, std::int32_t draft) {
    const bool goes_on = !thread.drafts.empty() && at(thread.drafts.back()).end_ns == next.start_ns;
    if (goes_on) return;
    const std::int32_t cause = last_ending_by(threads_[0].drafts, next.start_ns);
    if (cause != kNoNode) {
      draft_edges_.push_back({cause, draft, next.start_ns - at(cause).end_ns});
    } else {
      next.node.floor_ns = next.start_ns;
    }
  }

  // The last of these drafts that ends at `time` or before.
  std::int32_t last_ending_by(const std::vector<std::int32_t>& drafts, std::int64_t time) const {
    const auto after = std::ranges::upper_bound(drafts, time, {}, [&](std::int32_t k) { return at(k).end_ns; });
    return after == drafts.begin() ? kNoNode : *(after - 1);
  }

  // Whether the main thread waits for other threads all the while.
  bool is_inside_main_wait(const Segment& piece) const {
    const auto& drafts = threads_[0].drafts;
    const std::int64_t start = relative(piece.start_ns), end = relative(piece.end_ns);
    const auto after = std::ranges::upper_bound(drafts, start, {}, [&](std::int32_t k) { return at(k).start_ns; });
    if (after == drafts.begin()) return false;
    const Draft& around = at(*(after - 1));
    return around.wait == WaitKind::kThread && end <= around.end_ns;
  }

  WaitKind wait_kind(const Segment& segment, bool is_main) {
    const EventIndex event = segment.event;
    if (is_main && segment.cause == Cause::kLoading && waits_for_workers(event)) return WaitKind::kLoader;
    const bool has_own_event = event != kNoEvent && events_.kind[event] != EventKind::kPythonFunction;
    if (!has_own_event) return is_main && threads_.size() > 1 && is_thread_wait(segment.cause) ? WaitKind::kThread : WaitKind::kNone;
    if (!trace::is_launch_kind(events_.kind[event]) || streams_.empty()) return WaitKind::kNone;
    if (event != asked_event_) asked_event_ = event, asked_wait_ = wait_of_call(event);
    return asked_wait_;
  }

  bool waits_for_workers(EventIndex event) const {
    for (; event != kNoEvent; event = analysis_.tree().parent(event)) {
      const std::string& name = recording_.names[events_.name[event]];
      if (is_worker_wait_[events_.name[event]] && (!has_wait_scopes_ || name == "DataLoader.wait")) return true;
    }
    return false;
  }

  WaitKind wait_of_call(EventIndex call) const {
    const NameId name = events_.name[call];
    if (is_sync_[name]) return WaitKind::kDevice;
    const std::int64_t start = events_.start_ns[call], end = events_.end_ns(call);
    const bool is_long = end - start >= kShortCallNs;
    if (may_free_[name])
      return is_long && last_work_ending_by(end, start).end_ns > std::max(start, end - kHandoverNs) ? WaitKind::kDevice : WaitKind::kNone;
    if (!has_work_[call]) return WaitKind::kNone;
    const auto own = work_of_call_.find(call);
    if (own == work_of_call_.end()) return WaitKind::kNone;
    const auto& [stream, work] = own->second;
    const std::string_view work_name = recording_.name(work->event);
    const bool may_block = !is_async_copy_[name] || contains(work_name, "Pageable") || contains(work_name, "DtoH");
    if (events_.kind[work->event] == EventKind::kMemcpy && may_block && work->end_ns <= end + kClockErrorNs) return WaitKind::kCopy;
    return end - start >= kLateNs && queued_at(*stream, start) >= kFullQueue ? WaitKind::kQueue : WaitKind::kNone;
  }

  static std::ptrdiff_t queued_at(const Stream& stream, std::int64_t time) {
    const auto launched = std::ranges::lower_bound(stream.work, time, {}, &Work::call_ns) - stream.work.begin();
    const auto done = std::ranges::upper_bound(stream.work, time, {}, &Work::end_ns) - stream.work.begin();
    return launched - done;
  }

  // --- streams ---

  struct Found {
    std::int32_t draft = kNoNode;
    std::int64_t end_ns = INT64_MIN;
  };

  // The last piece of work of a stream that ended at `end_ns` or before and was launched before `launched_before`.
  static const Work* last_work(const Stream& stream, std::int64_t end_ns, std::int64_t launched_before) {
    auto after = std::ranges::upper_bound(stream.work, end_ns, {}, &Work::end_ns);
    while (after != stream.work.begin()) {
      --after;
      if (after->call_ns < launched_before) return &*after;
    }
    return nullptr;
  }

  Found last_work_ending_by(std::int64_t end_ns, std::int64_t launched_before) const {
    Found found;
    for (const Stream& stream : streams_) {
      const Work* work = last_work(stream, end_ns, launched_before);
      if (work != nullptr && work->end_ns > found.end_ns) found = {work->draft, work->end_ns};
    }
    return found;
  }

  void add_stream(Stream& stream) {
    for (Work& work : stream.work) {
      work.draft = static_cast<std::int32_t>(drafts_.size());
      Draft next{.start_ns = relative(work.start_ns), .end_ns = relative(work.end_ns)};
      next.node.kind = Kind::kDevice;
      next.node.duration_ns = work.end_ns - work.start_ns;
      next.node.beside = work.beside;
      if (next.node.beside) graph_.has_[static_cast<std::size_t>(*next.node.beside)] = true;
      next.node.time_class = classes_.of_device({work.event, work.call, work.phase});
      drafts_.push_back(next);
    }
  }

  void constrain(const Stream& stream) {
    const Work* before = nullptr;
    for (const Work& work : stream.work) {
      constrain(stream, work, before);
      before = &work;
    }
  }

  // What the work waits for: one of these made it begin when it did, the others were done before.
  void constrain(const Stream& stream, const Work& work, const Work* before) {
    Draft& draft = at(work.draft);
    const std::int64_t stream_free = before != nullptr ? before->end_ns : std::max(stream.busy_until[window_], span_.start_ns);
    const std::int64_t launched = work.call_ns + usual_launch_ns_;
    const std::int64_t call_end = events_.end_ns(work.call);
    const Found other = other_stream(stream, work, before);
    const bool is_behind_other = other.draft != kNoNode && other.end_ns > std::max(stream_free, launched) - kClockErrorNs;
    const bool is_behind_launch = !is_behind_other && launched >= stream_free;
    const bool is_behind_stream = !is_behind_other && !is_behind_launch;
    if (other.draft != kNoNode) draft_edges_.push_back({other.draft, work.draft, is_behind_other ? work.start_ns - other.end_ns : 0});

    const std::int64_t gap = work.start_ns - stream_free;
    const std::int64_t least_gap = is_behind_stream ? gap : std::min(gap, kUsualGapNs);
    if (before != nullptr) {
      draft.node.before = before->draft;
      draft.node.gap_ns = least_gap;
    } else if (stream.busy_until[window_] > span_.start_ns) {
      draft.node.floor_ns = relative(stream_free) + least_gap;
    }

    const std::int32_t caller = launching_draft(work);
    const std::int64_t caller_end = caller == kNoNode ? 0 : at(caller).end_ns;
    const std::int64_t lag = relative(is_behind_launch ? work.start_ns : std::min(work.start_ns, launched)) - caller_end;
    if (caller != kNoNode) {
      draft_edges_.push_back({caller, work.draft, lag});
    } else {
      draft.node.floor_ns = std::max(draft.node.floor_ns, lag);
    }
    const std::int64_t known = std::max({stream_free, launched, call_end, other.end_ns});
    graph_.unexplained_ns_ += std::max<std::int64_t>(0, work.start_ns - known - kLateNs);
  }

  // The host node after which the call began.
  std::int32_t launching_draft(const Work& work) const {
    const auto known = launched_after_.find(work.call);
    if (known != launched_after_.end()) return known->second;
    const auto thread = thread_ids_.find(work.thread);
    return thread == thread_ids_.end() ? kNoNode : last_ending_by(threads_[thread->second].drafts, relative(work.call_ns));
  }

  // The work of another stream that this work waits for: in a graph, or after the host told its stream to wait.
  Found other_stream(const Stream& own, const Work& work, const Work* before) const {
    Found found;
    const auto thread = thread_ids_.find(work.thread);
    const std::int64_t since = before != nullptr ? before->call_ns : span_.start_ns;
    const bool is_told = thread != thread_ids_.end() && [&] {
      const auto& waits = threads_[thread->second].event_waits;
      const auto next = std::ranges::upper_bound(waits, since);
      return next != waits.end() && *next <= work.call_ns;
    }();
    for (const Stream& stream : streams_) {
      if (stream.track == own.track) continue;
      const Work* last = last_work(stream, work.start_ns + kClockErrorNs, work.call_ns + 1);
      if (last == nullptr || last->draft == kNoNode || last->end_ns <= found.end_ns) continue;
      const bool is_close = last->end_ns >= work.start_ns - kHandoverNs;
      const bool is_in_graph = last->call == work.call && is_close;
      if (is_in_graph || (is_told && (is_close || last->phase == DevicePhase::kCollective))) found = {last->draft, last->end_ns};
    }
    return found;
  }

  // --- waits ---

  void add_waits() {
    for (Thread& thread : threads_) {
      for (const std::int32_t k : thread.drafts) {
        switch (at(k).wait) {
          case WaitKind::kThread: wait_for_threads(k); break;
          case WaitKind::kDevice: wait_for_device(thread, k); break;
          case WaitKind::kCopy: wait_for_copy(k); break;
          case WaitKind::kQueue: wait_for_room(k); break;
          case WaitKind::kLoader:
          case WaitKind::kNone: break;
        }
      }
    }
  }

  // Without another thread that is known to have worked meanwhile, the wait takes the time that it took.
  void wait_for_threads(std::int32_t k) {
    Draft& wait = at(k);
    std::int32_t last = kNoNode;
    std::int64_t last_end = wait.start_ns;
    for (std::size_t t = 1; t < threads_.size(); ++t) {
      const std::int32_t candidate = last_ending_by(threads_[t].drafts, wait.end_ns);
      if (candidate == kNoNode || at(candidate).end_ns <= last_end) continue;
      last = candidate;
      last_end = at(candidate).end_ns;
    }
    wait.node.duration_ns = last == kNoNode ? wait.end_ns - wait.start_ns : 0;
    if (last != kNoNode) draft_edges_.push_back({last, k, wait.end_ns - last_end});
  }

  // A call that waits for one stream waits for the last work launched before it; which stream it is, the time of its return tells.
  void wait_for_device(const Thread& thread, std::int32_t k) {
    const Draft& wait = at(k);
    const std::string_view name = recording_.name(wait.event);
    const std::int64_t end = events_.end_ns(wait.event), start = events_.start_ns[wait.event];
    const bool is_for_all = !contains(name, "Stream") && !contains(name, "Event");
    Found last = last_work_ending_by(end + kClockErrorNs, start);
    if (contains(name, "Stream")) {
      const Found own = last_of_own_stream(thread.track, start, end + kClockErrorNs);
      if (own.draft != kNoNode && (own.end_ns > start || last.end_ns <= start)) last = own;
    }
    wait_for(k, last);
    if (!is_for_all) return;
    for (const Stream& stream : streams_) {
      const Work* other = last_work(stream, end + kClockErrorNs, start);
      if (other != nullptr && other->draft != last.draft)
        draft_edges_.push_back({other->draft, k, std::min(at(k).node.duration_ns, end - other->end_ns)});
    }
  }

  // The last work, by whatever thread, on the stream to which this thread launched last.
  Found last_of_own_stream(TrackId thread, std::int64_t start_ns, std::int64_t end_ns) const {
    const Stream* own = nullptr;
    std::int64_t latest_call = INT64_MIN;
    for (const Stream& stream : streams_) {
      for (auto work = std::ranges::lower_bound(stream.work, start_ns, {}, &Work::call_ns); work != stream.work.begin();) {
        --work;
        if (work->thread != thread) continue;
        if (work->call_ns > latest_call) latest_call = work->call_ns, own = &stream;
        break;
      }
    }
    const Work* last = own == nullptr ? nullptr : last_work(*own, end_ns, start_ns);
    return last == nullptr ? Found() : Found{last->draft, last->end_ns};
  }

  void wait_for_copy(std::int32_t k) {
    const Work& own = *work_of_call_.at(at(k).event).work;
    wait_for(k, {own.draft, own.end_ns});
  }

  void wait_for_room(std::int32_t k) {
    const EventIndex call = at(k).event;
    wait_for(k, last_work_ending_by(events_.end_ns(call), events_.start_ns[call]));
  }

  void wait_for(std::int32_t k, const Found& work) {
    Draft& wait = at(k);
    const std::int64_t time = wait.end_ns - wait.start_ns;
    const std::int64_t base = device_base();
    // What was launched before the window is no node.
    const std::int64_t work_end = work.draft != kNoNode ? relative(work.end_ns) : relative(base);
    const bool has_waited = work_end > wait.start_ns && work_end <= wait.end_ns + kClockErrorNs;
    const std::int64_t after = has_waited ? std::max<std::int64_t>(0, wait.end_ns - work_end) : std::min(time, usual_launch_ns_);
    wait.node.duration_ns = has_waited ? std::min(after, time) : time;
    if (work.draft != kNoNode) {
      draft_edges_.push_back({work.draft, k, has_waited ? wait.end_ns - work_end : std::min<std::int64_t>(after, wait.end_ns - work_end)});
    } else if (has_waited) {
      wait.node.floor_ns = wait.end_ns;
    }
    if (has_waited) graph_.unexplained_ns_ += std::max<std::int64_t>(0, after - 2 * kLateNs);
  }

  // When the device was done with what was launched before the window.
  std::int64_t device_base() const {
    std::int64_t base = span_.start_ns;
    for (const Stream& stream : streams_) base = std::max(base, stream.busy_until[window_]);
    return base;
  }

  // The workers of a loader make one batch after the other, whatever the loop does: if the loop waited, the batch was done when it went on.
  // Batches that were ready were made in equal parts of the time between two of those.
  void add_batches() {
    std::vector<std::int32_t> waits;
    for (const std::int32_t k : threads_[0].drafts)
      if (at(k).wait == WaitKind::kLoader) waits.push_back(k);
    std::int32_t before = kNoNode;
    std::int64_t done = 0;
    for (std::size_t next = 0, k = 0; k < waits.size(); ++k) {
      if (at(waits[k]).end_ns - at(waits[k]).start_ns < kRealWaitNs) {
        at(waits[k]).node.duration_ns = at(waits[k]).end_ns - at(waits[k]).start_ns;
        continue;
      }
      const std::int64_t first = done, time = at(waits[k]).end_ns - first;
      const auto count = static_cast<std::int64_t>(k + 1 - next);
      for (std::int64_t made = 1; next <= k; ++next, ++made) {
        Draft& wait = at(waits[next]);
        const std::int64_t ready = std::clamp(first + time * made / count, done, std::max(done, wait.end_ns));
        Draft batch{.start_ns = done, .end_ns = ready};
        batch.node.kind = Kind::kBatch;
        batch.node.before = before;
        batch.node.duration_ns = ready - done;
        batch.node.time_class = wait.node.time_class;
        before = static_cast<std::int32_t>(drafts_.size());
        done = ready;
        draft_edges_.push_back({before, waits[next], 0});
        drafts_.push_back(batch);
      }
    }
  }

  // --- into the graph ---

  // Nodes in an order in which each follows those that it waits for, and otherwise in the order of their ends. Clocks that differ can make
  // two nodes wait for each other: such an edge is dropped, and if that matters, the unchanged replay shows it.
  std::vector<std::int32_t> order_drafts() {
    std::ranges::sort(draft_edges_, {}, [](const DraftEdge& edge) { return std::pair(edge.to, edge.from); });
    edges_of_draft_.assign(drafts_.size() + 1, 0);
    for (const DraftEdge& edge : draft_edges_) ++edges_of_draft_[static_cast<std::size_t>(edge.to) + 1];
    std::inclusive_scan(edges_of_draft_.begin(), edges_of_draft_.end(), edges_of_draft_.begin());
    std::vector<std::int32_t> by_end(drafts_.size()), order, path;
    std::iota(by_end.begin(), by_end.end(), 0);
    const auto key = [&](std::int32_t k) { return std::tuple(at(k).end_ns, at(k).start_ns, k); };
    if (!std::ranges::is_sorted(by_end, {}, key)) std::ranges::sort(by_end, {}, key);
    enum : std::uint8_t { kNew, kOpen, kDone };
    std::vector<std::uint8_t> state(drafts_.size(), kNew);
    for (const std::int32_t last : by_end) {
      path.push_back(last);
      while (!path.empty()) {
        const std::int32_t k = path.back();
        std::uint8_t& of_k = state[static_cast<std::size_t>(k)];
        const std::size_t already = path.size();
        if (of_k == kNew) {
          of_k = kOpen;
          const auto need = [&](std::int32_t other) {
            if (other != kNoNode && state[static_cast<std::size_t>(other)] == kNew) path.push_back(other);
          };
          for (std::size_t e = edges_of_draft_[static_cast<std::size_t>(k)]; e < edges_of_draft_[static_cast<std::size_t>(k) + 1]; ++e)
            need(draft_edges_[e].from);
          need(at(k).node.before);
        }
        if (path.size() != already) continue;
        path.pop_back();
        if (of_k == kOpen) order.push_back(k);
        of_k = kDone;
      }
    }
    return order;
  }

  void take_drafts() {
    const std::vector<std::int32_t> order = order_drafts();
    const auto first = static_cast<std::int32_t>(graph_.nodes_.size());
    std::vector<std::int32_t> place(drafts_.size());
    for (std::size_t k = 0; k < order.size(); ++k) place[static_cast<std::size_t>(order[k])] = first + static_cast<std::int32_t>(k);
    std::int64_t host_end = 0, device_end = relative(device_base());
    for (const std::int32_t k : order) {
      const Draft& draft = at(k);
      Node node = draft.node;
      const auto self = static_cast<std::int32_t>(graph_.nodes_.size());
      if (node.before != kNoNode) node.before = place[static_cast<std::size_t>(node.before)];
      if (node.before >= self) node.before = kNoNode;
      node.first_edge = static_cast<std::uint32_t>(graph_.edges_.size());
      for (std::size_t e = edges_of_draft_[static_cast<std::size_t>(k)]; e < edges_of_draft_[static_cast<std::size_t>(k) + 1]; ++e) {
        const std::int32_t from = place[static_cast<std::size_t>(draft_edges_[e].from)];
        if (from < self) graph_.edges_.push_back({draft_edges_[e].lag_ns, from});
      }
      node.edge_count = static_cast<std::uint32_t>(graph_.edges_.size()) - node.first_edge;
      graph_.nodes_.push_back(node);
      if (node.is_of_main_thread) host_end = std::max(host_end, draft.end_ns);
      if (node.kind == Kind::kDevice) device_end = std::max(device_end, draft.end_ns);
    }
    const std::int64_t base = relative(device_base());
    graph_.windows_.push_back({.first_node = first,
                               .end_node = static_cast<std::int32_t>(graph_.nodes_.size()),
                               .recorded_ns = std::max(host_end, device_end - base),
                               .device_base_ns = base});
  }

  StepGraph& graph_;
  const Analysis& analysis_;
  const trace::Recording& recording_;
  const trace::EventColumns& events_;
  const Phases& phases_;
  const Attribution& attribution_;
  const Ledger& ledger_;
  const TimeClasses& classes_;
  // By name.
  std::vector<bool> is_sync_, may_free_, is_async_copy_, is_event_wait_, is_worker_wait_;
  bool has_wait_scopes_ = false;  // the recorder marks the waiting itself
  std::vector<bool> has_work_;    // by event: a call that launched work in a window; empty without device work
  std::vector<Span> spans_;
  std::vector<Stream> streams_;
  std::vector<Thread> threads_;  // the main thread first
  std::unordered_map<TrackId, std::size_t> thread_ids_;

  // Of the window that is built.
  Span span_{};
  std::size_t window_ = 0;
  std::vector<Draft> drafts_;
  std::vector<DraftEdge> draft_edges_;
  std::vector<std::size_t> edges_of_draft_;  // where those of a draft begin
  struct OwnWork {
    const Stream* stream;
    const Work* work;  // the first
  };
  std::unordered_map<EventIndex, OwnWork> work_of_call_;
  std::unordered_map<EventIndex, std::int32_t> launched_after_;  // by call: the node before it
  std::int64_t usual_launch_ns_ = 0;
  std::int32_t run_ = kNoNode;  // the run of the thread that is open
  EventIndex asked_event_ = kNoEvent;
  WaitKind asked_wait_ = WaitKind::kNone;
};

StepGraph::StepGraph(const Analysis& analysis, const Phases& phases, const Ledger& ledger, const TimeClasses& classes) {
  Builder(*this, analysis, phases, ledger, classes).build();
}

std::int64_t StepGraph::step_ns() const {
  std::int64_t all = 0;
  for (const Window& window : windows_) all += window.recorded_ns;
  return all / static_cast<std::int64_t>(steps_);
}

}  // namespace mindtorch::analyze

// One pass over the events of each thread cuts its time; samples then refine what no event explains.
#include "mindtorch/analyze/attribution.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/intervals.h"
#include "mindtorch/analyze/ranks/collectives.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;
using trace::ThreadState;

bool is_waiting(ThreadState state) {
  return state == ThreadState::kWaitsForLock || state == ThreadState::kUnknown || state == ThreadState::kWaitsForIo ||
         state == ThreadState::kNotScheduled;
}

// The cause of a moment at which a thread was seen outside of all events that say what they are.
Cause cause_of_sample(ThreadState state, Cause hint) {
  const bool is_of_library = hint == Cause::kLoading || hint == Cause::kCollective || hint == Cause::kBackward ||
                             hint == Cause::kOptimizer || hint == Cause::kCompiling || hint == Cause::kForward;
  switch (state) {
    case ThreadState::kCollectsGarbage: return Cause::kGarbage;
    case ThreadState::kWaitsForGil: return Cause::kGil;
    case ThreadState::kSleeps: return Cause::kSleep;
    case ThreadState::kNotScheduled: return Cause::kNotRunning;
    case ThreadState::kWaitsForLock:
      return is_of_library || hint == Cause::kThread || hint == Cause::kIo || hint == Cause::kRequests ? hint : Cause::kLock;
    case ThreadState::kWaitsForIo: return is_of_library || hint == Cause::kThread || hint == Cause::kRequests ? hint : Cause::kIo;
    case ThreadState::kRunning:
    case ThreadState::kUnknown: return is_of_library ? hint : Cause::kPython;
  }
  return Cause::kPython;
}

// The cause of a moment of an event at which its thread was seen.
Cause cause_inside(Cause cause, ThreadState state) {
  if (state == ThreadState::kCollectsGarbage) return Cause::kGarbage;
  if (state == ThreadState::kWaitsForGil) return Cause::kGil;
  if (state == ThreadState::kNotScheduled && (is_op_cause(cause) || cause == Cause::kPython)) return Cause::kNotRunning;
  return cause;
}

bool says_nothing(Cause cause) { return cause == Cause::kUnknown; }

}  // namespace

// The segments of one thread.
class Attribution::Lane {
 public:
  // The thread was looked at from first_ns to last_ns, once or more often, and found in the same place.
  struct Sample {
    std::int64_t first_ns, last_ns, end_ns;
    PlaceId place;
    ThreadState state;
  };

  // What other threads do while a thread waits for them without an event of its own.
  struct Elsewhere {
    Intervals backward, collectives;
  };

  Lane(Attribution& all, trace::TrackId track, std::vector<Sample> samples, const Elsewhere* elsewhere)
      : all_(all),
        recording_(all.analysis_->recording()),
        tree_(all.analysis_->tree()),
        track_(recording_.tracks[track]),
        samples_(std::move(samples)),
        elsewhere_(elsewhere),
        slack_ns_(2 * recording_.options.sampling_interval_ns),
        now_(all.time_.start_ns) {
    find_life();
  }

  std::vector<Segment> finish() {
    for (EventIndex i = track_.first_event; i < track_.first_event + track_.event_count; ++i) enter(i);
    go_to(all_.time_.end_ns);
    return std::move(segments_);
  }

 private:
  struct Open {
    std::int64_t from_ns, end_ns;
    EventIndex event;
    PlaceId place;
    Places::CallChain calls;
    Cause cause;
    bool is_said;  // the cause was said by an event, and not guessed from a Python call
  };

  // A thread lives from half an interval before the first look that met it to half an interval before the one that did not, on average;
  // its events may say more. Threads that answer one request live for less than an interval.
  void find_life() {
    for (EventIndex i = track_.first_event; i < track_.first_event + track_.event_count; ++i) {
      if ((recording_.events.flags[i] & trace::kAsync) != 0) continue;
      life_.start_ns = std::min(life_.start_ns, recording_.events.start_ns[i]);
      life_.end_ns = std::max(life_.end_ns, recording_.events.end_ns(i));
    }
    if (samples_.empty()) return;
    const std::int64_t half = slack_ns_ / 4;
    const Sample& last = samples_.back();
    const bool lives_on = last.end_ns + slack_ns_ >= all_.time_.end_ns;
    life_.start_ns = std::min(life_.start_ns, samples_.front().first_ns - half);
    life_.end_ns = std::max({life_.end_ns, last.last_ns, lives_on ? all_.time_.end_ns : last.end_ns - half});
  }

  void enter(EventIndex i) {
    const bool is_call = recording_.events.kind[i] == EventKind::kPythonFunction;
    const Cause cause = is_call ? Cause::kPython : all_.causes_.of(i);
    if (says_nothing(cause) || (!is_call && !tree_.is_node(i))) return;
    if ((recording_.events.flags[i] & trace::kAsync) != 0) return;
    go_to(recording_.events.start_ns[i]);
    const Open* around = open_.empty() ? nullptr : &open_.back();
    Open next{.from_ns = is_call ? recording_.events.start_ns[i] : all_.causes_.begins_at(i),
              .end_ns = recording_.events.end_ns(i),
              .event = i,
              .place = around == nullptr ? kNoPlace : around->place,
              .calls = around == nullptr ? Places::kNoCalls : around->calls,
              .cause = cause,
              .is_said = !is_call};
    if (is_call) {
      enter_call(around, next);
    } else if (const auto stack = all_.analysis_->stacks().of(i)) {
      next.place = all_.places_.of_stack(*stack);
    }
    open_.push_back(next);
  }

  // A call inside of an op, a loader or an optimizer belongs to it; elsewhere it is Python, or what its function stands for.
  void enter_call(const Open* around, Open& call) {
    call.calls = all_.places_.enter(call.calls, recording_.events.name[call.event]);
    call.place = all_.places_.of_calls(call.calls);
    call.is_said = around != nullptr && around->is_said && around->from_ns <= call.from_ns;
    const Cause hint = all_.places_[call.place].hint;
    if (call.is_said) {
      call.cause = around->cause;
    } else if (hint != Cause::kUnknown) {
      call.cause = hint;
    }
  }

  void go_to(std::int64_t time) {
    while (!open_.empty() && open_.back().end_ns <= time) {
      pass(open_.back().end_ns);
      open_.pop_back();
    }
    pass(time);
  }

  // The time until then belongs to the innermost open event that has begun to count.
  void pass(std::int64_t time) {
    time = std::min(time, all_.time_.end_ns);
    while (now_ < time) {
      std::int64_t end = time;
      const Open* inner = nullptr;
      for (std::size_t k = open_.size(); k-- > 0;) {
        if (open_[k].from_ns <= now_) {
          inner = &open_[k];
          break;
        }
        end = std::min(end, open_[k].from_ns);
      }
      const auto outermost = std::ranges::find_if(open_, &Open::is_said);
      outermost_ns_ = outermost == open_.end() ? now_ : recording_.events.start_ns[outermost->event];
      Segment segment{.start_ns = now_, .end_ns = end};
      if (inner != nullptr) {
        segment.event = inner->event;
        segment.place = inner->place;
        segment.cause = inner->cause;
        segment.is_seen = inner->place != kNoPlace;
      }
      refine(segment);
      now_ = end;
    }
  }

  void refine(const Segment& segment) {
    if (samples_.empty()) return by_other_threads(segment);
    while (next_ < samples_.size() && samples_[next_].last_ns < segment.start_ns) ++next_;
    std::size_t last = next_;
    while (last < samples_.size() && samples_[last].first_ns < segment.end_ns) ++last;
    if (last == next_) return by_sample_before(segment);
    std::int64_t from = segment.start_ns;
    for (std::size_t k = next_; k < last; ++k) {
      const bool is_last = k + 1 == last;
      const std::int64_t between = is_last ? 0 : samples_[k].last_ns + (samples_[k + 1].first_ns - samples_[k].last_ns) / 2;
      const std::int64_t to = is_last ? segment.end_ns : std::clamp(between, from, segment.end_ns);
      // Nothing is known of a thread long before it is first seen, and long after it is last seen: it may not have lived.
      const bool is_bounded = says_nothing(segment.cause);
      const std::int64_t first = is_bounded ? std::clamp(std::max(samples_[k].first_ns - slack_ns_, life_.start_ns), from, to) : from;
      const std::int64_t end = is_bounded ? std::clamp(std::min(samples_[k].end_ns + slack_ns_, life_.end_ns), first, to) : to;
      by_other_threads(part_of(segment, from, first));
      by_sample(part_of(segment, first, end), samples_[k]);
      by_other_threads(part_of(segment, end, to));
      from = to;
    }
  }

  static Segment part_of(Segment segment, std::int64_t from, std::int64_t to) {
    segment.start_ns = from;
    segment.end_ns = to;
    return segment;
  }

  // A sample was taken in this segment.
  void by_sample(Segment piece, const Sample& sample) {
    // A thread that runs may have gone on after the first look: looks are rarer than was asked for where processors are busy.
    const bool is_certain = says_nothing(piece.cause) || outermost_ns_ <= sample.first_ns || sample.state != ThreadState::kRunning;
    if (is_certain && sample.place != kNoPlace && (piece.place == kNoPlace || piece.cause == Cause::kLoading)) {
      piece.place = sample.place;
      piece.is_seen = true;
    }
    if (!says_nothing(piece.cause) && piece.cause != Cause::kPython) {
      piece.cause = cause_inside(piece.cause, sample.state);
      return add(piece);
    }
    const Cause hint = all_.places_[sample.place].hint;
    const Cause seen = cause_of_sample(sample.state, hint);
    const bool may_wait = is_waiting(sample.state) && (hint == Cause::kUnknown || hint == Cause::kBackward || hint == Cause::kCollective);
    piece.cause = seen;
    may_wait ? by_other_threads(piece) : add(piece);
  }

  // No sample was taken in this segment: the last one before it, if it stands for this time too, says where the thread was.
  void by_sample_before(Segment segment) {
    const bool is_near = next_ > 0 && samples_[next_ - 1].end_ns >= segment.start_ns;
    if (!is_near) return by_other_threads(segment);
    const Sample& sample = samples_[next_ - 1];
    // An op that began after the sample may have been called from anywhere.
    if (segment.place == kNoPlace && (says_nothing(segment.cause) || outermost_ns_ <= sample.last_ns)) segment.place = sample.place;
    if (!says_nothing(segment.cause)) return add(segment);
    // Looks are rarer than was asked for where processors are busy: a long stretch without one may hold anything.
    const std::int64_t known_until =
        std::min({sample.end_ns + slack_ns_, life_.end_ns, std::max(sample.last_ns, segment.start_ns) + slack_ns_});
    const std::int64_t end = std::clamp(known_until, segment.start_ns, segment.end_ns);
    const Segment after = part_of(Segment{.event = segment.event}, end, segment.end_ns);
    segment.end_ns = end;
    // How a thread waited inside of an op says nothing about the time after it.
    segment.cause = cause_of_sample(ThreadState::kRunning, all_.places_[sample.place].hint);
    add(segment);
    by_other_threads(after);
  }

  void by_other_threads(Segment segment) {
    if (elsewhere_ == nullptr || (!says_nothing(segment.cause) && segment.place == kNoPlace)) return add(segment);
    const std::int64_t end = segment.end_ns;
    const auto is_explained = [&](const Intervals& set, Cause cause, std::int64_t from) -> std::int64_t {
      const auto& all = set.all();
      const auto next = std::ranges::upper_bound(all, from, {}, &Intervals::Interval::end);
      if (next == all.end() || next->start >= end) {
        segment.end_ns = end;
        return end;
      }
      segment.end_ns = next->start > from ? next->start : std::min(end, next->end);
      if (next->start <= from) segment.cause = cause;
      return segment.end_ns;
    };
    const Cause own = segment.cause;
    for (std::int64_t from = segment.start_ns; from < end;) {
      segment.start_ns = from;
      segment.cause = own;
      std::int64_t to = is_explained(elsewhere_->collectives, Cause::kCollective, from);
      if (segment.cause == own) {
        const std::int64_t before = to;
        to = std::min(before, is_explained(elsewhere_->backward, Cause::kBackward, from));
        segment.end_ns = to;
      }
      add(segment);
      from = to;
    }
  }

  void add(const Segment& segment) {
    if (segment.end_ns <= segment.start_ns) return;
    if (!segments_.empty()) {
      Segment& last = segments_.back();
      if (last.cause == segment.cause && last.event == segment.event && last.place == segment.place && last.is_seen == segment.is_seen) {
        last.end_ns = segment.end_ns;
        return;
      }
    }
    segments_.push_back(segment);
  }

  Attribution& all_;
  const trace::Recording& recording_;
  const EventTree& tree_;
  const trace::Track& track_;
  std::vector<Sample> samples_;
  const Elsewhere* elsewhere_;
  const std::int64_t slack_ns_;
  RecordedTime life_{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  std::size_t next_ = 0;  // the first sample whose last look was not before now
  std::vector<Open> open_;
  std::int64_t outermost_ns_ = 0;  // when the outermost open event that says what it is began
  std::int64_t now_;
  std::vector<Segment> segments_;
};

RecordedTime recorded_time(const trace::Recording& recording) {
  RecordedTime time{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  const auto add = [&](std::int64_t start, std::int64_t end) {
    time.start_ns = std::min(time.start_ns, start);
    time.end_ns = std::max(time.end_ns, end);
  };
  for (EventIndex i = 0; i < recording.events.size(); ++i) add(recording.events.start_ns[i], recording.events.end_ns(i));
  const trace::SampleColumns& samples = recording.samples;
  for (std::size_t k = 0; k < samples.size(); ++k) add(samples.time_ns[k], samples.end_ns(k));
  if (recording.clock.end_ns > recording.clock.start_ns) add(recording.clock.start_ns, recording.clock.end_ns);
  if (time.end_ns < time.start_ns) return {};
  return time;
}

trace::TrackId find_main_track(const Analysis& analysis) {
  const trace::Recording& recording = analysis.recording();
  std::vector<std::int64_t> busy(recording.tracks.size(), 0);
  std::optional<std::int64_t> pid;
  for (trace::TrackId t = 0; t < recording.tracks.size(); ++t) {
    const trace::Track& track = recording.tracks[t];
    if (track.kind != trace::Track::Kind::kThread) continue;
    if (!pid) pid = track.pid;
    EventIndex skipped_until = 0;
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      if (recording.events.kind[i] == EventKind::kStep) return t;
      if (!analysis.tree().is_node(i) || i < skipped_until) continue;
      // A thread that only evaluates autograd nodes works for the loop, and is not the loop.
      const bool is_backward = recording.events.kind[i] == EventKind::kBackward || recording.name(i).starts_with("autograd::engine::");
      if (is_backward && analysis.tree().parent(i) == kNoEvent) {
        skipped_until = analysis.tree().subtree_end(i);
      } else {
        busy[t] += analysis.tree().self_ns(i);
      }
    }
  }
  // Without events, the thread that was seen running most. Workers of a loader are other processes, and never the loop.
  if (std::ranges::all_of(busy, [](std::int64_t time) { return time == 0; })) {
    for (std::size_t k = 0; k < recording.samples.size(); ++k) {
      const ThreadState state = recording.samples.state[k];
      if (state == ThreadState::kRunning || state == ThreadState::kWaitsForGil || state == ThreadState::kSleeps)
        busy[recording.samples.track[k]] += recording.samples.duration_ns[k];
    }
  }
  trace::TrackId main = 0;
  std::int64_t most = -1;
  for (trace::TrackId t = 0; t < recording.tracks.size(); ++t) {
    const trace::Track& track = recording.tracks[t];
    if (track.kind == trace::Track::Kind::kThread && track.pid == *pid && busy[t] > most) main = t, most = busy[t];
  }
  return main;
}

Attribution::Attribution(const Analysis& analysis)
    : analysis_(&analysis),
      causes_(analysis.recording(), analysis.tree()),
      places_(analysis.recording()),
      time_(recorded_time(analysis.recording())),
      main_track_(find_main_track(analysis)) {
  const trace::Recording& recording = analysis.recording();
  const EventTree& tree = analysis.tree();
  std::vector<std::vector<Lane::Sample>> samples(recording.tracks.size());
  for (std::size_t k = 0; k < recording.samples.size(); ++k) {
    const std::int64_t first = recording.samples.time_ns[k], end = recording.samples.end_ns(k);
    samples[recording.samples.track[k]].push_back({.first_ns = first,
                                                   .last_ns = std::max(first, end - recording.options.sampling_interval_ns),
                                                   .end_ns = end,
                                                   .place = places_.of_stack(recording.samples.stack[k]),
                                                   .state = recording.samples.state[k]});
  }
  const bool has_calls = std::ranges::find(recording.events.kind, EventKind::kPythonFunction) != recording.events.kind.end();
  sees_python_ = has_calls || recording.samples.size() > 0;
  Lane::Elsewhere elsewhere;
  for (trace::TrackId t = 0; t < recording.tracks.size(); ++t) {
    const trace::Track& track = recording.tracks[t];
    if (track.kind != trace::Track::Kind::kThread || track.pid != recording.tracks[main_track_].pid) continue;
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      const EventKind kind = recording.events.kind[i];
      if ((kind == EventKind::kScope || kind == EventKind::kOp) && is_host_collective(recording.name(i)))
        elsewhere.collectives.add(recording.events.start_ns[i], recording.events.end_ns(i));
      if (t == main_track_ || !tree.is_node(i) || causes_.of(i) != Cause::kBackward) continue;
      const EventIndex parent = tree.parent(i);
      if (parent == kNoEvent || causes_.of(parent) != Cause::kBackward)
        elsewhere.backward.add(recording.events.start_ns[i], recording.events.end_ns(i));
    }
  }
  elsewhere.collectives = elsewhere.collectives.united();
  elsewhere.backward = elsewhere.backward.united();
  lanes_.resize(recording.tracks.size());
  for (trace::TrackId t = 0; t < recording.tracks.size(); ++t) {
    if (recording.tracks[t].kind != trace::Track::Kind::kThread) continue;
    lanes_[t] = Lane(*this, t, std::move(samples[t]), t == main_track_ ? &elsewhere : nullptr).finish();
  }
}

PlaceId Attribution::place_at(trace::TrackId track, std::int64_t time_ns) const {
  const std::vector<Segment>& lane = lanes_[track];
  const auto after = std::ranges::upper_bound(lane, time_ns, {}, &Segment::start_ns);
  return after == lane.begin() ? kNoPlace : (after - 1)->place;
}

}  // namespace mindtorch::analyze

// Assembles one Recording from sealed logs and device batches.
//
// The usual case is cheap: a thread writes its events in the order in which they start, so the rows of its segments, one after another, are
// already what the invariants of a Recording demand. Only device records, intervals that a host reports late, and scopes that were opened
// out of order make the general sort necessary.
#include "mindtorch/record/assemble.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/record/captured_ops.h"
#include "mindtorch/record/device_mapping.h"
#include "mindtorch/trace/launches.h"
#include "mindtorch/trace/open_spans.h"
#include "mindtorch/trace/ordering.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::record {
namespace {

using trace::EventIndex;
using trace::TrackId;

struct Span {
  std::int64_t start;
  std::int64_t end;
  std::uint64_t correlation;  // of the first piece of work
};

// The innermost scope around each call, by correlation.
std::vector<trace::LaunchIndex::Launch> scopes_of_launches(const trace::Recording& recording) {
  const trace::EventColumns& events = recording.events;
  std::vector<trace::LaunchIndex::Launch> scopes;
  trace::OpenSpans<EventIndex> open;
  for (const trace::Track& track : recording.tracks) {
    if (track.kind != trace::Track::Kind::kThread) continue;
    open.clear();
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      open.close_until(events.start_ns[i]);
      if (trace::is_user_kind(events.kind[i]) && (events.flags[i] & trace::kAsync) == 0)
        open.open(events.end_ns(i), i);
      else if (trace::is_launch_kind(events.kind[i]) && !open.empty() && events.link[i] != 0)
        scopes.push_back({events.link[i], open.innermost()});
    }
  }
  return scopes;
}

std::map<std::pair<EventIndex, TrackId>, Span> find_spans(const trace::Recording& recording, trace::LaunchIndex scopes) {
  const trace::EventColumns& events = recording.events;
  std::map<std::pair<EventIndex, TrackId>, Span> spans;
  for (TrackId id = 0; id < recording.tracks.size(); ++id) {
    const trace::Track& track = recording.tracks[id];
    if (track.kind != trace::Track::Kind::kStream) continue;
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      if (!trace::is_device_work(events.kind[i]) || events.link[i] == 0) continue;
      const EventIndex scope = scopes.find(events.link[i]);
      if (scope == trace::LaunchIndex::kNone) continue;
      const auto [at, is_new] = spans.try_emplace({scope, id}, Span{events.start_ns[i], events.end_ns(i), events.link[i]});
      if (is_new) continue;
      at->second.start = std::min(at->second.start, events.start_ns[i]);
      at->second.end = std::max(at->second.end, events.end_ns(i));
    }
  }
  return spans;
}

// For each scope and stream, an event of kind kDeviceScope from the first to the last piece of work that was launched in the scope, as
// torch draws them: work counts for the innermost scope around its launch. Events must be in order; they are still in order afterwards.
void add_device_scopes(trace::Recording& recording) {
  std::vector<trace::LaunchIndex::Launch> scopes = scopes_of_launches(recording);
  if (scopes.empty()) return;
  const auto spans = find_spans(recording, trace::LaunchIndex(std::move(scopes)));
  if (spans.empty()) return;
  trace::EventColumns& events = recording.events;
  std::vector<TrackId> track_of_event = trace::track_column(recording);
  for (const auto& [key, span] : spans) {
    const auto [scope, track] = key;
    events.push_back({.start_ns = span.start,
                      .duration_ns = span.end - span.start,
                      .name = events.name[scope],
                      .link = span.correlation,
                      .device = recording.tracks[track].device,
                      .kind = trace::EventKind::kDeviceScope,
                      .flags = trace::kKnownDevice});
    track_of_event.push_back(track);
  }
  trace::order_events(recording, track_of_event);
}

// The rate of the clock is the slope between two samples. If they are closer together than this, their own uncertainty dominates it.
constexpr std::int64_t kShortestBaselineNs = 1'000'000;

constexpr const char* kEndedThreads = "threads that have ended";

// The three clocks of a sample were not read at the same instant: the true time lies anywhere in the width of the sample, and half of it is
// the uncertainty of its middle. One nanosecond more covers the rounding.
ClockAnchor to_anchor(const ClockSample& sample, const ClockSample& first, double ns_per_tick) {
  const auto half_width = static_cast<std::int64_t>(static_cast<double>(sample.width_ticks) * ns_per_tick / 2) + 1;
  return {sample.ticks, sample.monotonic_ns - first.monotonic_ns, half_width};
}

void add_loss(trace::LossReason reason, std::uint64_t count, std::string where, std::string detail, trace::Recording& out) {
  if (count > 0) out.losses.push_back({reason, count, std::move(where), std::move(detail)});
}

std::string thread_label(const ThreadIdentity& thread) { return fmt::format("thread {} ({})", thread.tid, thread.name); }

void add_refusals(const LogLosses& losses, const std::string& where, trace::Recording& out) {
  add_loss(trace::LossReason::kBudget, losses.refused, where, "refused because the byte budget was used up", out);
  add_loss(trace::LossReason::kSideData, losses.side_refused, where, "shapes, stacks, attributes or memory reports that did not fit", out);
}

// Reads all segments of one log as one track. Returns false if its events need sorting. Every slot of the log becomes an event or is
// counted in a loss, so that events and losses add up to what was issued.
bool read_log(const SealedLog& log, TickMapping& mapping, const ReadOptions& options, IdMaps& ids, trace::Recording& out) {
  const auto track_id = static_cast<trace::TrackId>(out.tracks.size());
  trace::Track track = track_of(log.thread);
  track.first_event = static_cast<trace::EventIndex>(out.events.size());
  ReadCounts counts;
  for (const Segment& segment : log.segments) {
    const std::size_t before = out.events.size();
    read_segment(segment, track_id, mapping, options, ids, out, counts);
    // The order within each segment has been checked, but not the order across two segments. Equal starts count as out of order here,
    // because the longer event must come first and the durations are not compared.
    if (before > track.first_event && before < out.events.size() && out.events.start_ns[before] <= out.events.start_ns[before - 1])
      counts.in_order = false;
  }
  track.event_count = static_cast<trace::EventIndex>(out.events.size()) - track.first_event;
  out.tracks.push_back(std::move(track));
  add_loss(trace::LossReason::kOverwritten, log.losses.overwritten + counts.left_out, thread_label(log.thread),
           "older than what was asked to be kept", out);
  add_loss(trace::LossReason::kSideData, log.losses.side_overwritten + counts.side_left_out, thread_label(log.thread),
           "memory reports that are older than what was asked to be kept", out);
  add_loss(trace::LossReason::kUnfinished, counts.unfinished, thread_label(log.thread), "still open when the recording stopped", out);
  add_log_losses(log, out);
  return counts.in_order;
}

std::size_t slot_count(const std::vector<SealedLog>& logs) {
  std::size_t count = 0;
  for (const SealedLog& log : logs)
    for (const Segment& segment : log.segments) count += segment.used;
  return count;
}

// A thread that was attached to the session without recording anything gets no track. One whose events were all refused gets an empty
// track, because its losses name it.
bool took_part(const SealedLog& log) {
  return log.losses.refused > 0 ||
         std::any_of(log.segments.begin(), log.segments.end(), [](const Segment& segment) { return !segment.empty(); });
}

}  // namespace

TickMapping map_session_clock(const std::vector<ClockSample>& samples, Clock& clock) {
  // Samples that follow one another too closely are skipped.
  const ClockSample& first = samples.front();
  const double ns_per_tick = clock.ns_per_tick();
  std::vector<ClockAnchor> anchors{to_anchor(first, first, ns_per_tick)};
  for (const ClockSample& sample : samples)
    if (to_anchor(sample, first, ns_per_tick).ns - anchors.back().ns >= kShortestBaselineNs)
      anchors.push_back(to_anchor(sample, first, ns_per_tick));
  if (anchors.size() < 2) return TickMapping(anchors.front(), ns_per_tick);
  return TickMapping(std::move(anchors));
}

trace::Track track_of(const ThreadIdentity& thread) {
  trace::Track track;
  track.pid = thread.pid;
  track.id = thread.tid;
  track.number = thread.number;
  track.name = thread.name;
  return track;
}

void add_log_losses(const SealedLog& log, trace::Recording& out) { add_refusals(log.losses, thread_label(log.thread), out); }

void add_clock_and_steps(const Ingredients& from, TickMapping& mapping, trace::Recording& out) {
  const SessionCore& core = from.core;
  const std::vector<ClockSample> samples = core.clock_samples();
  out.clock.base_unix_ns = samples.front().unix_ns;
  // keep_last: what is older than the window was not kept.
  out.clock.start_ns = from.window_start == 0 ? 0 : mapping.to_ns(from.window_start);
  out.clock.end_ns = mapping.to_ns(from.stop_ticks);
  out.clock.domains.push_back({std::string(core.clock.name()), 1e9 / mapping.ns_per_tick(), mapping.error_bound_ns(), samples.size()});
  // keep_last: steps before the window have lost their events, so their marks would show empty steps.
  for (const TickStep& step : core.steps())
    if (step.ticks >= from.window_start && step.ticks <= from.stop_ticks) out.steps.push_back({mapping.to_ns(step.ticks), step.step});
  add_loss(trace::LossReason::kThreadExit, core.refused_at_thread_exit, "",
           "recorded by thread-local destructors, after the thread's log was closed", out);
  const LogLosses& ended = from.logs.of_ended_threads;
  add_loss(trace::LossReason::kOverwritten, ended.overwritten, kEndedThreads, "older than what was asked to be kept", out);
  add_loss(trace::LossReason::kSideData, ended.side_overwritten, kEndedThreads,
           "memory reports that are older than what was asked to be kept", out);
  add_refusals(ended, kEndedThreads, out);
}

trace::Recording assemble(const Ingredients& from, trace::Recording about) {
  trace::Recording out = std::move(about);
  IdMaps ids(out.names, out.stacks, from.stacks);
  TickMapping mapping = map_session_clock(from.core.clock_samples(), from.core.clock);
  add_clock_and_steps(from, mapping, out);
  // An upper bound: keep_last leaves out slots that are older than the window. Growing the columns would copy them several times.
  out.events.reserve(slot_count(from.logs.logs));
  bool in_order = true;
  const ReadOptions options{from.window_start, from.stop_ticks};
  for (const SealedLog& log : from.logs.logs)
    if (took_part(log)) in_order &= read_log(log, mapping, options, ids, out);
  trace::order_memory(out.memory);
  for (std::int64_t& time : out.memory.time_ns) time = mapping.to_ns(static_cast<std::uint64_t>(time));
  const bool has_records = std::ranges::any_of(from.batches, [](const SourceBatch& each) { return !each.batch.records.empty(); });
  const bool must_order = has_records || !in_order;
  std::vector<trace::TrackId> tracks;
  if (must_order) tracks = trace::track_column(out);
  // Device records come after all host events, on tracks of their own or on those of the threads that launched them.
  for (const SourceBatch& each : from.batches) add_device_batch(each.batch, each.source, mapping, from.window_start, ids, out, tracks);
  if (must_order) trace::order_events(out, tracks);
  // It looks for the scope around each launch, so it needs the events in order.
  if (has_records) add_device_scopes(out);
  // Side entries are written in the order of the calls that report them, which is not that of the events.
  trace::order_side_rows(out);
  trace::order_marks(out);
  trace::join_many_losses(out.losses);
  add_captured_ops(from.batches, out);
  return out;
}

}  // namespace mindtorch::record

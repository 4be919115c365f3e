// Phases: the segments of the main thread and the work of the devices, cut into steps.
#include "mindtorch/analyze/report/phases.h"

#include <algorithm>
#include <limits>
#include <map>

#include "mindtorch/analyze/report/step_kinds.h"
#include "mindtorch/analyze/step_finder.h"
#include "mindtorch/analyze/steps.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

constexpr std::array<std::string_view, kDevicePhases> kDeviceNames = {"kernels", "copies", "collectives", "idle"};

// Calls `add(part, time)` for each part that a time overlaps. Times come in order.
class StepWalk {
 public:
  explicit StepWalk(std::vector<StepPhases>& parts) : parts_(parts) {}

  template <class Add>
  void visit(std::int64_t start, std::int64_t end, Add add) {
    while (at_ < parts_.size() && parts_[at_].end_ns() <= start) ++at_;
    for (std::size_t k = at_; k < parts_.size() && parts_[k].start_ns < end; ++k) {
      const std::int64_t time = std::min(end, parts_[k].end_ns()) - std::max(start, parts_[k].start_ns);
      if (time > 0) add(parts_[k], time);
    }
  }

 private:
  std::vector<StepPhases>& parts_;
  std::size_t at_ = 0;  // no part before it is reached again
};

// `spans`, which may overlap, cut so that each moment belongs to the one that began first.
std::vector<DeviceSpan> apart(std::vector<DeviceSpan> spans) {
  std::ranges::stable_sort(spans, {}, &DeviceSpan::start_ns);
  std::vector<DeviceSpan> cut;
  std::int64_t covered = std::numeric_limits<std::int64_t>::min();
  for (DeviceSpan span : spans) {
    span.start_ns = std::max(span.start_ns, covered);
    if (span.start_ns >= span.end_ns) continue;
    covered = span.end_ns;
    cut.push_back(span);
  }
  return cut;
}

// Both are sorted and without overlaps. Returns `first`, and what of `then` lies outside of it.
std::vector<DeviceSpan> joined(const std::vector<DeviceSpan>& first, const std::vector<DeviceSpan>& then) {
  std::vector<DeviceSpan> all = first;
  auto blocker = first.begin();
  for (DeviceSpan span : then) {
    while (blocker != first.end() && blocker->end_ns <= span.start_ns) ++blocker;
    for (auto at = blocker; at != first.end() && at->start_ns < span.end_ns; ++at) {
      if (at->start_ns > span.start_ns) all.push_back({span.start_ns, at->start_ns, span.event, span.phase});
      span.start_ns = std::max(span.start_ns, at->end_ns);
    }
    if (span.start_ns < span.end_ns) all.push_back(span);
  }
  std::ranges::stable_sort(all, {}, &DeviceSpan::start_ns);
  return all;
}

}  // namespace

std::string pool_name(std::string_view thread_name) {
  std::string plain;
  for (const char c : thread_name) {
    if (c < '0' || c > '9') plain += c;
  }
  while (!plain.empty() && (plain.back() == '_' || plain.back() == '-' || plain.back() == ' ')) plain.pop_back();
  return plain;
}

std::string_view device_phase_name(DevicePhase phase) { return kDeviceNames[static_cast<std::size_t>(phase)]; }

Phases::Phases(const Analysis& analysis, Times times) : analysis_(&analysis) {
  has_device_work_ = std::ranges::any_of(analysis.recording().events.kind, is_device_work);
  if (times == Times::kStepsOnly) {
    causes_ = std::make_shared<const EventCauses>(analysis.recording(), analysis.tree());
    main_track_ = find_main_track(analysis);
    Iterations found;
    found.steps = analyze::steps(analysis);
    const bool has_events = std::ranges::any_of(analysis.recording().events.kind, [](EventKind kind) { return kind == EventKind::kStep; });
    if (!found.steps.empty() && (has_events || found.steps.size() > 1)) found.origin = Iterations::Origin::kSteps;
    take_steps(std::move(found));
    return;
  }
  attribution_ = std::make_shared<const Attribution>(analysis);
  main_track_ = attribution_->main_track();
  Iterations found = find_iterations(analysis, main_track_);
  const std::vector<std::string> stages = found.stages;
  take_steps(std::move(found));
  judged_tracks_ = {main_track_};
  if (!has_steps()) cut_slices();
  if (!has_steps() && !has_device_work_) choose_judged_tracks();
  if (has_device_work_) find_device_spans();
  for (std::vector<StepPhases>* parts : {&steps_, &slices_}) {
    if (parts->empty()) continue;
    add_host_times(*parts);
    if (has_device_work_) add_device_times(*parts);
  }
  if (has_steps()) find_kinds(stages);
}

void Phases::take_steps(Iterations found) {
  origin_ = found.origin;
  unit_ = std::move(found.unit);
  if (!has_steps()) return take_whole_recording();
  StepFinder<Step> finder(found.steps);
  if (origin_ != Iterations::Origin::kSteps) {
    const trace::EventColumns& events = analysis_->recording().events;
    for (EventIndex i = 0; i < events.size(); ++i) {
      if (!analysis_->tree().is_node(i)) continue;
      if (const std::int64_t at = finder.at(events.start_ns[i]); at >= 0) ++found.steps[static_cast<std::size_t>(at)].events;
    }
  }
  for (const Step& step : found.steps)
    steps_.push_back({.number = step.number, .start_ns = step.start_ns, .duration_ns = step.duration_ns, .events = step.events});
}

void Phases::take_whole_recording() {
  const trace::Recording& recording = analysis_->recording();
  std::int64_t first = recording.clock.start_ns, last = recording.clock.end_ns;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    first = i == 0 ? recording.events.start_ns[i] : std::min(first, recording.events.start_ns[i]);
    last = std::max(last, recording.events.end_ns(i));
  }
  steps_ = {{.start_ns = first, .duration_ns = last - first, .events = static_cast<std::int64_t>(recording.events.size())}};
}

std::int64_t Phases::step_at(std::int64_t time_ns) const { return StepFinder<StepPhases>(steps_).at(time_ns); }

void Phases::choose_judged_tracks() {
  const std::vector<trace::Track>& tracks = analysis_->recording().tracks;
  if (tracks.empty()) return;
  struct Pool {
    std::int64_t busy_ns = 0, most_ns = 0;
    trace::TrackId busiest = 0;
    std::vector<trace::TrackId> tracks;
  };
  std::map<std::string, Pool> pools;
  std::int64_t busy_on_main = 0;
  for (trace::TrackId t = 0; t < tracks.size(); ++t) {
    if (tracks[t].kind != trace::Track::Kind::kThread || tracks[t].pid != tracks[main_track_].pid) continue;
    std::int64_t busy = 0;
    for (const Segment& segment : attribution_->of(t)) {
      const bool waits = is_without_work(segment.cause) || segment.cause == Cause::kLock;
      busy += waits ? 0 : segment.duration_ns();
    }
    if (t == main_track_) busy_on_main = busy;
    Pool& pool = pools[pool_name(tracks[t].name)];
    pool.busy_ns += busy;
    pool.tracks.push_back(t);
    if (busy > pool.most_ns) pool.most_ns = busy, pool.busiest = t;
  }
  const auto most = std::ranges::max_element(pools, {}, [](const auto& pool) { return pool.second.busy_ns; });
  if (most == pools.end() || most->second.busy_ns <= busy_on_main) return;
  main_track_ = most->second.busiest;
  judged_tracks_ = most->second.tracks;
}

void Phases::cut_slices() {
  const StepPhases& whole = steps_.front();
  std::int64_t length = 1;
  for (const int factor : {2, 5, 10}) {
    for (std::int64_t power = 1; power <= whole.duration_ns / 30; power *= 10) {
      const std::int64_t round = power * factor;
      if (round <= whole.duration_ns / 30) length = std::max(length, round);
    }
  }
  for (std::int64_t start = 0; start < whole.duration_ns; start += length) {
    slices_.push_back({.number = static_cast<std::int64_t>(slices_.size()),
                       .start_ns = whole.start_ns + start,
                       .duration_ns = std::min(length, whole.duration_ns - start)});
  }
}

void Phases::add_host_times(std::vector<StepPhases>& parts) const {
  constexpr auto kRest = static_cast<std::size_t>(Cause::kUnknown);
  for (StepPhases& part : parts) part.host[kRest] = part.duration_ns;
  if (analysis_->recording().tracks.empty()) return;
  StepWalk walk(parts);
  for (const Segment& segment : attribution_->of(main_track_)) {
    if (segment.cause == Cause::kUnknown) continue;
    walk.visit(segment.start_ns, segment.end_ns, [&](StepPhases& part, std::int64_t time) {
      part.host[static_cast<std::size_t>(segment.cause)] += time;
      part.host[kRest] -= time;
    });
  }
}

void Phases::find_device_spans() {
  const trace::Recording& recording = analysis_->recording();
  std::array<std::vector<DeviceSpan>, 3> spans;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    const EventKind kind = recording.events.kind[i];
    if (!is_device_work(kind)) continue;
    const bool is_collective = kind == EventKind::kCollective || (kind == EventKind::kKernel && is_collective_name(recording.name(i)));
    const DevicePhase phase = is_collective                ? DevicePhase::kCollective
                              : kind == EventKind::kKernel ? DevicePhase::kCompute
                                                           : DevicePhase::kCopy;
    spans[static_cast<std::size_t>(phase)].push_back({recording.events.start_ns[i], recording.events.end_ns(i), i, phase});
  }
  // Work that runs beside kernels does not add to the time of a step, so it is not counted.
  device_ = joined(joined(apart(std::move(spans[0])), apart(std::move(spans[1]))), apart(std::move(spans[2])));
}

void Phases::add_device_times(std::vector<StepPhases>& parts) const {
  constexpr auto kIdle = static_cast<std::size_t>(DevicePhase::kIdle);
  for (StepPhases& part : parts) part.device[kIdle] = part.duration_ns;
  StepWalk walk(parts);
  for (const DeviceSpan& span : device_) {
    walk.visit(span.start_ns, span.end_ns, [&](StepPhases& part, std::int64_t time) {
      part.device[static_cast<std::size_t>(span.phase)] += time;
      part.device[kIdle] -= time;
    });
  }
}

void Phases::find_kinds(const std::vector<std::string>& stages) { kinds_ = step_kinds(steps_, stages); }

}  // namespace mindtorch::analyze

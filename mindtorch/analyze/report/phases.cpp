// Phases: one pass over the events of the host, one over those of the devices.
#include "mindtorch/analyze/report/phases.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "mindtorch/analyze/intervals.h"
#include "mindtorch/analyze/step_finder.h"
#include "mindtorch/analyze/steps.h"
#include "mindtorch/base/text.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

constexpr std::array<std::string_view, kHostPhases> kHostNames = {"forward", "backward",    "optimizer", "data loading",
                                                                  "copies",  "collectives", "waiting",   "Python"};
constexpr std::array<std::string_view, kDevicePhases> kDeviceNames = {"kernels", "copies", "collectives", "idle"};

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// The phase that an event has whatever is around it.
std::optional<HostPhase> own_phase(EventKind kind, std::string_view name) {
  if (kind == EventKind::kBackward || name.starts_with("autograd::engine::evaluate_function")) return HostPhase::kBackward;
  if (trace::is_launch_kind(kind)) {
    if (contains(name, "Synchronize")) return HostPhase::kWait;
    if (contains(name, "Memcpy")) return HostPhase::kCopy;
    return std::nullopt;
  }
  if (starts_with_any(name, {"Optimizer.", "## Optimizer."})) return HostPhase::kOptimizer;
  if (starts_with_any(name, {"enumerate(DataLoader)", "DataLoader"})) return HostPhase::kData;
  if (starts_with_any(name, {"nccl:", "gloo:", "hccl:", "c10d::", "record_param_comms"})) return HostPhase::kCollective;
  if (name == "aten::item" || name == "aten::_local_scalar_dense") return HostPhase::kWait;
  if (name == "aten::copy_" || name == "aten::_to_copy") return HostPhase::kCopy;
  return std::nullopt;
}

// Inside of these, events of any other phase belong to them: a copy that an optimizer makes is part of the optimizer.
bool keeps_children(HostPhase phase) { return phase == HostPhase::kOptimizer || phase == HostPhase::kData; }

// Goes through the nested events of a thread in order of time, and adds the time of each phase to the parts in which it passes.
class PhaseWalk {
 public:
  explicit PhaseWalk(std::vector<StepPhases>& parts) : parts_(parts), part_(parts.begin()) {}

  void enter(std::int64_t start, std::int64_t end, HostPhase phase) {
    go_to(start);
    open_.push_back({end, phase});
  }
  void finish() {
    std::int64_t last = now_;
    for (const Open& open : open_) last = std::max(last, open.end_ns);
    go_to(last);
  }

 private:
  struct Open {
    std::int64_t end_ns;
    HostPhase phase;
  };

  void go_to(std::int64_t time) {
    while (!open_.empty() && open_.back().end_ns <= time) {
      pass(open_.back().end_ns);
      open_.pop_back();
    }
    pass(time);
  }

  // The time until then belongs to the innermost open event.
  void pass(std::int64_t time) {
    if (time <= now_) return;
    if (!open_.empty() && open_.back().phase != HostPhase::kPython) add(now_, time, static_cast<std::size_t>(open_.back().phase));
    now_ = time;
  }

  void add(std::int64_t start, std::int64_t end, std::size_t phase) {
    while (part_ != parts_.end() && part_->start_ns + part_->duration_ns <= start) ++part_;
    for (auto part = part_; part != parts_.end() && part->start_ns < end; ++part)
      part->host[phase] += std::max<std::int64_t>(0, std::min(end, part->start_ns + part->duration_ns) - std::max(start, part->start_ns));
  }

  std::vector<StepPhases>& parts_;
  std::vector<StepPhases>::iterator part_;  // no part before it is reached again
  std::vector<Open> open_;                  // outermost first
  std::int64_t now_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace

std::string_view host_phase_name(HostPhase phase) { return kHostNames[static_cast<std::size_t>(phase)]; }
std::string_view device_phase_name(DevicePhase phase) { return kDeviceNames[static_cast<std::size_t>(phase)]; }

bool is_collective_name(std::string_view name) {
  return starts_with_any(name, {"nccl", "hccl", "hcom_", "rccl"}) || contains(name, "ncclDevKernel") || contains(name, "ncclKernel");
}

Phases::Phases(const Analysis& analysis, Times times) : analysis_(&analysis) {
  classify();
  find_steps();
  find_main_track();
  has_device_work_ = std::ranges::any_of(analysis.recording().events.kind, is_device_work);
  if (times == Times::kStepsOnly) return;
  if (!has_steps_) cut_slices();
  for (std::vector<StepPhases>* parts : {&steps_, &slices_}) {
    if (parts->empty()) continue;
    add_host_times(*parts);
    add_backward_of_other_threads(*parts);
    add_device_times(*parts);
  }
}

void Phases::classify() {
  const trace::Recording& recording = analysis_->recording();
  const EventTree& tree = analysis_->tree();
  phase_of_.assign(recording.events.size(), HostPhase::kPython);
  // Names are looked at once; ops and scopes of one name have one answer, and launches are told by their kind.
  std::vector<std::optional<std::optional<HostPhase>>> known(recording.names.size());
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    const EventKind kind = recording.events.kind[i];
    if (!tree.is_node(i) || kind == EventKind::kStep) continue;
    const EventIndex parent = tree.parent(i);
    const HostPhase around = parent == kNoEvent ? HostPhase::kPython : phase_of_[parent];
    if (keeps_children(around)) {
      phase_of_[i] = around;
      continue;
    }
    auto& own = known[recording.events.name[i]];
    if (!own) own = own_phase(kind, recording.name(i));
    const bool is_work = kind == EventKind::kOp || trace::is_launch_kind(kind);
    phase_of_[i] = own->value_or(around != HostPhase::kPython || !is_work ? around : HostPhase::kForward);
  }
}

void Phases::find_steps() {
  const trace::Recording& recording = analysis_->recording();
  for (const Step& step : analyze::steps(*analysis_))
    steps_.push_back({.number = step.number, .start_ns = step.start_ns, .duration_ns = step.duration_ns, .events = step.events});
  const bool has_events = std::ranges::any_of(recording.events.kind, [](EventKind kind) { return kind == EventKind::kStep; });
  has_steps_ = has_events || steps_.size() > 1;
  if (has_steps_) return;
  std::int64_t first = recording.clock.start_ns, last = recording.clock.end_ns;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    first = i == 0 ? recording.events.start_ns[i] : std::min(first, recording.events.start_ns[i]);
    last = std::max(last, recording.events.end_ns(i));
  }
  steps_ = {{.start_ns = first, .duration_ns = last - first, .events = static_cast<std::int64_t>(recording.events.size())}};
}

void Phases::find_main_track() {
  const trace::Recording& recording = analysis_->recording();
  std::int64_t most = -1;
  for (trace::TrackId t = 0; t < recording.tracks.size(); ++t) {
    const trace::Track& track = recording.tracks[t];
    if (track.kind != trace::Track::Kind::kThread) continue;
    std::int64_t busy = 0;
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      if (recording.events.kind[i] == EventKind::kStep) {
        main_track_ = t;
        return;
      }
      if (analysis_->tree().is_node(i)) busy += analysis_->tree().self_ns(i);
    }
    if (busy > most) main_track_ = t, most = busy;
  }
}

std::int64_t Phases::step_at(std::int64_t time_ns) const { return StepFinder<StepPhases>(steps_).at(time_ns); }

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
  const trace::Recording& recording = analysis_->recording();
  if (!recording.tracks.empty()) {
    PhaseWalk walk(parts);
    const trace::Track& track = recording.tracks[main_track_];
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      if (analysis_->tree().is_node(i) && recording.events.kind[i] != EventKind::kStep)
        walk.enter(recording.events.start_ns[i], recording.events.end_ns(i), phase_of_[i]);
    }
    walk.finish();
  }
  for (StepPhases& part : parts) {
    std::int64_t rest = part.duration_ns;
    for (const std::int64_t time : part.host) rest -= time;
    part.host[static_cast<std::size_t>(HostPhase::kPython)] = std::max<std::int64_t>(0, rest);
  }
}

// With a device, autograd runs on a thread of its own while the main thread waits without any event.
void Phases::add_backward_of_other_threads(std::vector<StepPhases>& parts) const {
  const trace::Recording& recording = analysis_->recording();
  Intervals busy, backward;
  for (trace::TrackId t = 0; t < recording.tracks.size(); ++t) {
    const trace::Track& track = recording.tracks[t];
    if (track.kind != trace::Track::Kind::kThread) continue;
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      if (!analysis_->tree().is_node(i)) continue;
      const EventIndex parent = analysis_->tree().parent(i);
      const bool is_outermost = parent == kNoEvent || phase_of_[parent] != phase_of_[i];
      if (!is_outermost) continue;
      if (t == main_track_ && phase_of_[i] != HostPhase::kPython) busy.add(recording.events.start_ns[i], recording.events.end_ns(i));
      if (t != main_track_ && phase_of_[i] == HostPhase::kBackward) backward.add(recording.events.start_ns[i], recording.events.end_ns(i));
    }
  }
  if (backward.empty()) return;
  const Intervals alone = backward.united().without(busy.united());
  for (StepPhases& step : parts) {
    std::int64_t& python = step.host[static_cast<std::size_t>(HostPhase::kPython)];
    const std::int64_t time = std::min(python, alone.covered_ns(step.start_ns, step.start_ns + step.duration_ns));
    python -= time;
    step.host[static_cast<std::size_t>(HostPhase::kBackward)] += time;
  }
}

void Phases::add_device_times(std::vector<StepPhases>& parts) const {
  const trace::Recording& recording = analysis_->recording();
  Intervals kernels, copies, collectives;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    const EventKind kind = recording.events.kind[i];
    if (!is_device_work(kind)) continue;
    const bool is_collective = kind == EventKind::kCollective || (kind == EventKind::kKernel && is_collective_name(recording.name(i)));
    Intervals& of_kind = is_collective ? collectives : kind == EventKind::kKernel ? kernels : copies;
    of_kind.add(recording.events.start_ns[i], recording.events.end_ns(i));
  }
  if (!has_device_work_) return;
  // Work that runs beside kernels does not add to the time of a step, so it is not counted.
  const Intervals compute = kernels.united();
  const Intervals moving = copies.united().without(compute);
  const Intervals talking = collectives.united().without(compute).without(moving);
  for (StepPhases& step : parts) {
    const std::int64_t end = step.start_ns + step.duration_ns;
    step.device = {compute.covered_ns(step.start_ns, end), moving.covered_ns(step.start_ns, end), talking.covered_ns(step.start_ns, end),
                   0};
    step.device[3] = step.duration_ns - step.device[0] - step.device[1] - step.device[2];
  }
}

}  // namespace mindtorch::analyze

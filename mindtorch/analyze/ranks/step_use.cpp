// Sets of times: what computes, copies, communicates, loads data or waits for a launch; each moment belongs to the first that holds.
#include "mindtorch/analyze/ranks/step_use.h"

#include <algorithm>

#include "mindtorch/analyze/intervals.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

struct Uses {
  Intervals compute, copies, communication, data, launched;
};

bool is_loading(const Phases& phases, EventIndex event) { return phases.of(event) == Cause::kLoading; }

// Only the outermost event of a phase is added: those inside of it add nothing.
void add_data(const Analysis& analysis, const Phases& phases, Uses& uses) {
  const trace::Recording& recording = analysis.recording();
  const EventTree& tree = analysis.tree();
  const trace::Track& track = recording.tracks[phases.main_track()];
  for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
    if (!tree.is_node(i) || !is_loading(phases, i)) continue;
    const EventIndex parent = tree.parent(i);
    if (parent == kNoEvent || !is_loading(phases, parent)) uses.data.add(recording.events.start_ns[i], recording.events.end_ns(i));
  }
}

void add_host_work(const Analysis& analysis, const Phases& phases, Uses& uses) {
  const trace::Recording& recording = analysis.recording();
  const EventTree& tree = analysis.tree();
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    const EventKind kind = recording.events.kind[i];
    const bool is_work = kind == EventKind::kOp || kind == EventKind::kBackward;
    if (!is_work || !tree.is_node(i) || phases.of(i) == Cause::kCollective || is_loading(phases, i)) continue;
    uses.compute.add(recording.events.start_ns[i], recording.events.end_ns(i));
  }
}

void add_device_work(const Analysis& analysis, std::span<const FoundCollective> collectives, Uses& uses) {
  const trace::Recording& recording = analysis.recording();
  const LaunchLinks& launches = analysis.launches();
  std::vector<bool> is_collective(recording.events.size());
  for (const FoundCollective& collective : collectives) is_collective[collective.event] = true;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    const EventKind kind = recording.events.kind[i];
    if (!is_device_work(kind)) continue;
    const std::int64_t start = recording.events.start_ns[i];
    if (const EventIndex launch = launches.launch_of(i); launch != kNoEvent) uses.launched.add(recording.events.start_ns[launch], start);
    if (!is_collective[i]) (kind == EventKind::kKernel ? uses.compute : uses.copies).add(start, recording.events.end_ns(i));
  }
}

}  // namespace

std::vector<RankStep> step_use(const Analysis& analysis, const Phases& phases, std::span<const FoundCollective> collectives) {
  Uses uses;
  for (const FoundCollective& collective : collectives) uses.communication.add(collective.start_ns, collective.end_ns);
  if (!analysis.recording().tracks.empty()) add_data(analysis, phases, uses);
  phases.has_device_work() ? add_device_work(analysis, collectives, uses) : add_host_work(analysis, phases, uses);

  const Intervals compute = uses.compute.united(), communication = uses.communication.united();
  Intervals taken = compute;
  const auto rest_of = [&](const Intervals& set) {
    const Intervals rest = set.united().without(taken);
    for (const auto& [start, end] : rest.all()) taken.add(start, end);
    taken = taken.united();
    return rest;
  };
  const Intervals copies = rest_of(uses.copies), exposed = rest_of(communication), data = rest_of(uses.data),
                  launched = rest_of(uses.launched);
  std::vector<RankStep> steps;
  for (const StepPhases& phase : phases.steps()) {
    RankStep step{.number = phase.number, .start_ns = phase.start_ns, .duration_ns = phase.duration_ns};
    const auto covered = [&](const Intervals& set) { return set.covered_ns(step.start_ns, step.start_ns + step.duration_ns); };
    step.use = {covered(compute), covered(copies), covered(exposed), covered(data), covered(launched), 0};
    std::int64_t rest = step.duration_ns;
    for (const std::int64_t time : step.use) rest -= time;
    step.use[static_cast<std::size_t>(TimeUse::kHost)] = rest;
    step.hidden_ns = covered(communication) - covered(exposed);
    steps.push_back(step);
  }
  return steps;
}

}  // namespace mindtorch::analyze

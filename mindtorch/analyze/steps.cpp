// Steps: intervals from step events or marks, filled with what happened in them.
#include "mindtorch/analyze/steps.h"

#include <algorithm>
#include <string>

#include "mindtorch/analyze/step_finder.h"

namespace mindtorch::analyze {
namespace {

std::vector<Step> from_events(const trace::Recording& recording) {
  std::vector<Step> found;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    if (recording.events.kind[i] != trace::EventKind::kStep) continue;
    const std::int64_t start_ns = recording.events.start_ns[i], number = trace::step_of(recording.events.link[i]);
    found.push_back({.number = number >= 0 ? number : recording.step_at(start_ns),
                     .start_ns = start_ns,
                     .duration_ns = recording.events.duration_ns[i]});
  }
  std::ranges::stable_sort(found, {}, &Step::start_ns);
  // A program that counts its steps itself, while its recorder counts them too, has two rows of steps that overlap: one of them counts.
  // Steps of one row may overlap a little, because times of other tools are rounded.
  std::vector<Step> apart;
  for (const Step& step : found) {
    if (apart.empty() || step.start_ns >= apart.back().start_ns + apart.back().duration_ns / 10 * 9) apart.push_back(step);
  }
  return apart;
}

std::vector<Step> from_marks(const trace::Recording& recording) {
  std::vector<Step> found;
  if (recording.steps.empty()) return found;
  const trace::StepMark& first = recording.steps.front();
  if (first.time_ns > recording.clock.start_ns)
    found.push_back({.number = recording.step_at(recording.clock.start_ns), .start_ns = recording.clock.start_ns});
  for (const trace::StepMark& mark : recording.steps) {
    if (found.empty() || found.back().number != mark.step) found.push_back({.number = mark.step, .start_ns = mark.time_ns});
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::int64_t end = i + 1 < found.size() ? found[i + 1].start_ns : std::max(recording.clock.end_ns, found[i].start_ns);
    found[i].duration_ns = end - found[i].start_ns;
  }
  return found;
}

// A recording whose steps end with a call of the program names the step that had begun but not ended when the program ended.
void drop_open_step(const trace::Recording& recording, std::vector<Step>& found) {
  const auto open = recording.metadata.find(std::string(kOpenStepKey));
  if (open == recording.metadata.end() || found.empty()) return;
  if (open->second == std::to_string(found.back().number)) found.pop_back();
}

}  // namespace

std::vector<Step> steps(const Analysis& analysis) {
  const trace::Recording& recording = analysis.recording();
  const EventTree& tree = analysis.tree();
  const LaunchLinks& launches = analysis.launches();
  std::vector<Step> found = from_events(recording);
  if (found.empty()) found = from_marks(recording);
  drop_open_step(recording, found);
  if (found.empty()) return found;
  StepFinder<Step> finder(found);
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    if (!tree.is_node(i) || recording.events.kind[i] == trace::EventKind::kStep) continue;
    const std::int64_t index = finder.at(recording.events.start_ns[i]);
    if (index < 0) continue;
    Step& step = found[static_cast<std::size_t>(index)];
    ++step.events;
    step.device_ns += launches.self_ns(i);
  }
  return found;
}

}  // namespace mindtorch::analyze

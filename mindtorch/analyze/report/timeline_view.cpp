// Timeline view: chooses the steps, then their slices.
#include "mindtorch/analyze/report/timeline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "mindtorch/trace/text.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

bool is_drawn(const Analysis& analysis, EventIndex i) {
  const EventKind kind = analysis.recording().events.kind[i];
  if (trace::is_device_kind(kind)) return kind != EventKind::kDeviceScope;
  return analysis.tree().is_listed(i) && kind != EventKind::kStep;
}

std::string track_name(const trace::Track& track) {
  if (track.kind == trace::Track::Kind::kStream)
    return fmt::format("{}:{} stream {}", trace::device_type_name(track.device.type), track.device.index, track.id);
  return track.name.empty() ? fmt::format("thread {}", track.id) : fmt::format("thread {} ({})", track.id, track.name);
}

class View {
 public:
  View(const Analysis& analysis, std::string title, std::int64_t start, std::int64_t end)
      : analysis_(analysis), events_(analysis.recording().events) {
    view_.title = std::move(title);
    view_.start_ns = start;
    view_.end_ns = end;
  }

  TimelineView finish(std::size_t most_slices) {
    std::vector<EventIndex> chosen;
    for (EventIndex i = 0; i < events_.size(); ++i) {
      const bool overlaps = events_.start_ns[i] < view_.end_ns && events_.end_ns(i) > view_.start_ns;
      if (overlaps && is_drawn(analysis_, i)) chosen.push_back(i);
    }
    keep_longest(chosen, most_slices);
    add_tracks(chosen);
    link_launches();
    return std::move(view_);
  }

 private:
  void keep_longest(std::vector<EventIndex>& chosen, std::size_t most_slices) {
    if (chosen.size() <= most_slices) return;
    view_.left_out = chosen.size() - most_slices;
    const auto longer = [this](EventIndex a, EventIndex b) { return events_.duration_ns[a] > events_.duration_ns[b]; };
    std::ranges::nth_element(chosen, chosen.begin() + static_cast<std::ptrdiff_t>(most_slices), longer);
    chosen.resize(most_slices);
    std::ranges::sort(chosen);
  }

  void add_tracks(const std::vector<EventIndex>& chosen) {
    const trace::Recording& recording = analysis_.recording();
    std::size_t at = 0;
    for (const trace::Track& track : recording.tracks) {
      const auto first = static_cast<std::uint32_t>(view_.slices.size());
      std::vector<std::int64_t> open;  // ends
      for (; at < chosen.size() && chosen[at] < track.first_event + track.event_count; ++at) {
        const EventIndex event = chosen[at];
        while (!open.empty() && open.back() <= events_.start_ns[event]) open.pop_back();
        slice_of_[event] = static_cast<std::int32_t>(view_.slices.size());
        view_.slices.push_back({.event = event, .depth = static_cast<std::uint32_t>(open.size())});
        open.push_back(events_.end_ns(event));
      }
      const auto count = static_cast<std::uint32_t>(view_.slices.size()) - first;
      if (count > 0) view_.tracks.push_back({track_name(track), track.kind == trace::Track::Kind::kStream, first, count});
    }
  }

  void link_launches() {
    for (TimelineSlice& slice : view_.slices) {
      if (!trace::is_device_kind(events_.kind[slice.event])) continue;
      EventIndex host = analysis_.launches().launch_of(slice.event);
      if (host == kNoEvent) host = analysis_.launches().host_of(slice.event);
      const auto at = slice_of_.find(host);
      if (at != slice_of_.end()) slice.launched_by = at->second;
    }
  }

  const Analysis& analysis_;
  const trace::EventColumns& events_;
  TimelineView view_;
  std::unordered_map<EventIndex, std::int32_t> slice_of_;
};

}  // namespace

std::vector<TimelineView> timeline_views(const Analysis& analysis, const Phases& phases, std::size_t most_slices) {
  const std::vector<StepPhases>& steps = phases.steps();
  std::vector<TimelineView> views;
  const auto add = [&](const StepPhases& step, std::string title) {
    views.push_back(View(analysis, std::move(title), step.start_ns, step.start_ns + step.duration_ns).finish(most_slices));
  };
  if (!phases.has_steps() || steps.size() == 1) {
    add(steps.front(), phases.has_steps() ? fmt::format("Step {}", steps.front().number) : "The whole recording");
    return views;
  }
  std::vector<std::int64_t> durations;
  for (const StepPhases& step : steps) durations.push_back(step.duration_ns);
  std::ranges::nth_element(durations, durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2));
  const std::int64_t median = durations[durations.size() / 2];
  const auto typical = std::ranges::min_element(steps, {}, [&](const StepPhases& step) { return std::abs(step.duration_ns - median); });
  const auto slowest = std::ranges::max_element(steps, {}, &StepPhases::duration_ns);
  add(*typical, fmt::format("Step {}, typical", typical->number));
  if (slowest != typical) add(*slowest, fmt::format("Step {}, slowest", slowest->number));
  if (typical != steps.begin() && slowest != steps.begin()) add(steps.front(), fmt::format("Step {}, first", steps.front().number));
  return views;
}

}  // namespace mindtorch::analyze

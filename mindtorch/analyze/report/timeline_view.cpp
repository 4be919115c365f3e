// Timeline view: chooses the steps, then their slices.
#include "mindtorch/analyze/report/timeline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "mindtorch/trace/open_spans.h"
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
  if (track.kind == trace::Track::Kind::kStream) return fmt::format("{} stream {}", trace::device_text(track.device), track.id);
  return track.name.empty() ? fmt::format("thread {}", track.id) : fmt::format("{} {}", track.name, track.id);
}

// A counter between two times. It begins with the value that it has at the start.
Counter part_of(const Counter& counter, std::int64_t start, std::int64_t end, std::size_t most_points) {
  Counter part{.name = counter.name, .unit = counter.unit, .device = counter.device};
  const auto first = std::ranges::upper_bound(counter.times_ns, start), last = std::ranges::lower_bound(first, counter.times_ns.end(), end);
  const auto begin = static_cast<std::size_t>(first - counter.times_ns.begin()), count = static_cast<std::size_t>(last - first);
  if (begin > 0) {
    part.times_ns.push_back(start);
    part.values.push_back(counter.values[begin - 1]);
  }
  const std::size_t points = std::min(count, most_points);
  for (std::size_t point = 0; point < points; ++point) {
    std::size_t highest = begin + point * count / points;
    for (std::size_t k = highest; k < begin + (point + 1) * count / points; ++k) {
      if (counter.values[k] > counter.values[highest]) highest = k;
    }
    part.times_ns.push_back(counter.times_ns[highest]);
    part.values.push_back(counter.values[highest]);
  }
  return part;
}

class View {
 public:
  View(const Analysis& analysis, std::string title, std::int64_t start, std::int64_t end)
      : analysis_(analysis), events_(analysis.recording().events) {
    view_.title = std::move(title);
    view_.start_ns = start;
    view_.end_ns = end;
  }

  TimelineView finish(std::size_t most_slices, trace::TrackId main_track) {
    std::vector<EventIndex> chosen;
    for (EventIndex i = 0; i < events_.size(); ++i) {
      const bool overlaps = events_.start_ns[i] < view_.end_ns && events_.end_ns(i) > view_.start_ns;
      if (overlaps && is_drawn(analysis_, i)) chosen.push_back(i);
    }
    keep_longest(chosen, most_slices);
    add_tracks(chosen, main_track);
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

  // The thread of the loop comes first, then the others in their order.
  void add_tracks(const std::vector<EventIndex>& chosen, trace::TrackId main_track) {
    const std::vector<trace::Track>& tracks = analysis_.recording().tracks;
    if (main_track < tracks.size()) add_track(chosen, tracks[main_track]);
    for (trace::TrackId track = 0; track < tracks.size(); ++track) {
      if (track != main_track) add_track(chosen, tracks[track]);
    }
  }

  void add_track(const std::vector<EventIndex>& chosen, const trace::Track& track) {
    const auto first = static_cast<std::uint32_t>(view_.slices.size());
    trace::OpenSpans<EventIndex> open;
    const auto begin = std::ranges::lower_bound(chosen, track.first_event);
    for (auto at = begin; at != chosen.end() && *at < track.first_event + track.event_count; ++at) {
      open.close_until(events_.start_ns[*at]);
      slice_of_[*at] = static_cast<std::int32_t>(view_.slices.size());
      view_.slices.push_back({.event = *at, .depth = static_cast<std::uint32_t>(open.all().size())});
      open.open(events_.end_ns(*at), *at);
    }
    const auto count = static_cast<std::uint32_t>(view_.slices.size()) - first;
    if (count > 0) view_.tracks.push_back({track_name(track), track.kind == trace::Track::Kind::kStream, first, count});
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

std::vector<TimelineView> timeline_views(const Analysis& analysis, const Phases& phases, const TimelineOptions& options) {
  const std::vector<StepPhases>& steps = phases.steps();
  const std::vector<Counter> all_counters = counters(analysis);
  std::vector<TimelineView> views;
  const auto add = [&](const StepPhases& step, std::string title) {
    const std::int64_t end = step.start_ns + step.duration_ns;
    const std::size_t most_slices = views.empty() ? options.most_slices : options.most_other_slices;
    views.push_back(View(analysis, std::move(title), step.start_ns, end).finish(most_slices, phases.main_track()));
    for (const Counter& counter : all_counters) {
      Counter part = part_of(counter, step.start_ns, end, options.most_points);
      if (!part.values.empty()) views.back().counters.push_back(std::move(part));
    }
  };
  if (!phases.has_steps() || steps.size() == 1) {
    add(steps.front(), phases.has_steps() ? fmt::format("Step {}", steps.front().number) : "The whole recording");
    return views;
  }
  // The largest kind of steps is what the program does most of the time.
  const auto typical = steps.begin() + static_cast<std::ptrdiff_t>(phases.kinds().front().typical);
  const auto slowest = std::ranges::max_element(steps, {}, &StepPhases::duration_ns);
  add(*typical, fmt::format("Step {}, typical", typical->number));
  if (slowest != typical) add(*slowest, fmt::format("Step {}, slowest", slowest->number));
  if (typical != steps.begin() && slowest != steps.begin()) add(steps.front(), fmt::format("Step {}, first", steps.front().number));
  return views;
}

}  // namespace mindtorch::analyze

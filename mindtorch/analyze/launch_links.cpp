// LaunchLinks: correlation ids to launches, launches to the nodes around them, times summed from the leaves up.
#include "mindtorch/analyze/launch_links.h"

#include <algorithm>
#include <unordered_map>

namespace mindtorch::analyze {

LaunchLinks::LaunchLinks(const trace::Recording& recording, const EventTree& tree) : recording_(&recording), tree_(&tree) {
  if (std::ranges::none_of(recording.events.kind, trace::is_device_kind)) return;
  link();
  sum_up();
}

void LaunchLinks::link() {
  const trace::EventColumns& events = recording_->events;
  std::unordered_map<std::uint64_t, EventIndex> launch_by_correlation;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (trace::is_launch_kind(events.kind[i]) && events.link[i] != 0) launch_by_correlation.emplace(events.link[i], i);
  }
  launch_.resize(events.size());
  self_ns_.assign(events.size(), 0);
  for (EventIndex i = 0; i < events.size(); ++i) {
    launch_[i] = kNoEvent;
    if (!trace::is_device_kind(events.kind[i]) || events.link[i] == 0) continue;
    const auto found = launch_by_correlation.find(events.link[i]);
    if (found == launch_by_correlation.end()) continue;
    launch_[i] = found->second;
    const EventIndex host = host_of(i);
    if (host == kNoEvent || !is_device_work(events.kind[i])) continue;
    self_ns_[host] += events.duration_ns[i];
    work_.push_back({host, i});
  }
  std::ranges::sort(work_);
}

// Children come after their parents, so one pass backwards has every total complete before it is handed up.
void LaunchLinks::sum_up() {
  total_ns_ = self_ns_;
  for (EventIndex i = static_cast<EventIndex>(total_ns_.size()); i-- > 0;) {
    if (tree_->is_node(i) && tree_->parent(i) != kNoEvent) total_ns_[tree_->parent(i)] += total_ns_[i];
  }
}

EventIndex LaunchLinks::host_of(EventIndex activity) const {
  EventIndex host = launch_of(activity);
  if (host == kNoEvent) return kNoEvent;
  host = tree_->node_of(host);
  while (host != kNoEvent && trace::is_launch_kind(recording_->events.kind[host])) host = tree_->parent(host);  // kNoEvent if it is async
  return host;
}

std::vector<EventIndex> LaunchLinks::activities_of(EventIndex node) const {
  std::vector<EventIndex> found;
  for (auto at = std::ranges::lower_bound(work_, Work{node, 0}); at != work_.end() && at->host == node; ++at) found.push_back(at->activity);
  return found;
}

}  // namespace mindtorch::analyze

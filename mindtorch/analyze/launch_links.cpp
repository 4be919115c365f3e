// LaunchLinks: correlation ids to launches, launches to the nodes around them, times summed from the leaves up.
#include "mindtorch/analyze/launch_links.h"

#include <algorithm>

#include "mindtorch/base/large_pages.h"

namespace mindtorch::analyze {

static_assert(trace::LaunchIndex::kNone == kNoEvent, "what is not found is no event");

LaunchLinks::LaunchLinks(const trace::Recording& recording, const EventTree& tree) : recording_(&recording), tree_(&tree) {
  if (std::ranges::none_of(recording.events.kind, trace::is_device_kind)) return;
  link();
  sum_up();
}

// The correlation of the captured call is an attribute of each activity that a graph ran.
void LaunchLinks::find_captured_calls(trace::LaunchIndex& launches) {
  const auto key = std::ranges::find(recording_->names, trace::kCaptureCorrelation);
  if (key == recording_->names.end()) return;
  const auto key_id = static_cast<NameId>(key - recording_->names.begin());
  const trace::SharedTable<trace::Attribute>& attributes = recording_->attributes;
  std::vector<EventIndex> call_of_row(attributes.shared_rows(), kNoEvent);
  for (std::size_t row = 0; row < call_of_row.size(); ++row) {
    for (const trace::Attribute& attribute : attributes.shared_row(row))
      if (attribute.key == key_id) call_of_row[row] = launches.find(static_cast<std::uint64_t>(attribute.bits));
  }
  captured_call_.resize(recording_->events.size());
  prefer_large_pages(captured_call_);
  std::ranges::fill(captured_call_, kNoEvent);
  for (std::size_t k = 0; k < attributes.events.size(); ++k) captured_call_[attributes.events[k]] = call_of_row[attributes.shared[k]];
}

void LaunchLinks::link() {
  const trace::EventColumns& events = recording_->events;
  trace::LaunchIndex launches = trace::LaunchIndex::of_calls(events);
  find_captured_calls(launches);
  launch_.resize(events.size());
  prefer_large_pages(launch_);
  self_ns_.resize(events.size());
  prefer_large_pages(self_ns_);
  std::ranges::fill(self_ns_, 0);
  for (EventIndex i = 0; i < events.size(); ++i) {
    launch_[i] = trace::is_device_kind(events.kind[i]) && events.link[i] != 0 ? launches.find(events.link[i]) : kNoEvent;
    if (launch_[i] == kNoEvent) continue;
    const EventIndex host = host_of(i);
    if (host == kNoEvent || !is_device_work(events.kind[i])) continue;
    self_ns_[host] += events.duration_ns[i];
  }
}

const std::vector<LaunchLinks::Work>& LaunchLinks::work() const {
  std::call_once(work_is_sorted_, [this] {
    for (EventIndex i = 0; i < launch_.size(); ++i) {
      const EventIndex host = launch_[i] != kNoEvent && is_device_work(recording_->events.kind[i]) ? host_of(i) : kNoEvent;
      if (host != kNoEvent) work_.push_back({host, i});
    }
    if (!std::ranges::is_sorted(work_)) std::ranges::sort(work_);
  });
  return work_;
}

// Children come after their parents, so one pass backwards has every total complete before it is handed up.
void LaunchLinks::sum_up() {
  total_ns_.resize(self_ns_.size());
  prefer_large_pages(total_ns_);
  std::ranges::copy(self_ns_, total_ns_.begin());
  for (EventIndex i = static_cast<EventIndex>(total_ns_.size()); i-- > 0;) {
    if (tree_->is_node(i) && tree_->parent(i) != kNoEvent) total_ns_[tree_->parent(i)] += total_ns_[i];
  }
}

EventIndex LaunchLinks::host_of(EventIndex activity) const {
  EventIndex host = launch_of(activity);
  if (!captured_call_.empty() && captured_call_[activity] != kNoEvent) host = captured_call_[activity];
  if (host == kNoEvent) return kNoEvent;
  host = tree_->node_of(host);
  // The span of a scope belongs to the scope, everything else to the innermost op or scope.
  const bool is_span = recording_->events.kind[activity] == trace::EventKind::kDeviceScope;
  const auto is_passed = [&](trace::EventKind kind) { return is_span ? !trace::is_user_kind(kind) : trace::is_launch_kind(kind); };
  while (host != kNoEvent && is_passed(recording_->events.kind[host])) host = tree_->parent(host);  // kNoEvent if it is async
  return host;
}

std::vector<EventIndex> LaunchLinks::activities_of(EventIndex node) const {
  std::vector<EventIndex> found;
  const std::vector<Work>& all = work();
  for (auto at = std::ranges::lower_bound(all, Work{node, 0}); at != all.end() && at->host == node; ++at) found.push_back(at->activity);
  return found;
}

LaunchCounts count_launches(const trace::Recording& recording) {
  const trace::EventColumns& events = recording.events;
  LaunchCounts counts;
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  const auto for_each_work = [&](auto visit) {
    for (EventIndex i = 0; i < events.size(); ++i)
      if (is_device_work(events.kind[i])) visit(events.link[i]);
  };
  for_each_work([&](std::uint64_t link) {
    ++counts.records;
    if (link != 0) first = std::min(first, link), last = std::max(last, link);
  });
  for (const trace::Loss& loss : recording.losses)
    if (loss.reason == trace::LossReason::kNoDeviceRecord) counts.launches += loss.count;
  // One bit for each correlation: vendors count them up. Ids that are scattered more widely are sorted.
  constexpr std::uint64_t kBitsPerRecord = 256;
  if (first > last) return counts;
  if (last - first < kBitsPerRecord * counts.records) {
    std::vector<bool> seen(last - first + 1);
    for_each_work([&](std::uint64_t link) {
      if (link == 0 || seen[link - first]) return;
      seen[link - first] = true;
      ++counts.launches;
    });
    return counts;
  }
  std::vector<std::uint64_t> links;
  for_each_work([&](std::uint64_t link) {
    if (link != 0) links.push_back(link);
  });
  std::ranges::sort(links);
  counts.launches += static_cast<std::uint64_t>(std::unique(links.begin(), links.end()) - links.begin());
  return counts;
}

}  // namespace mindtorch::analyze

// Correlations as positions in an array, or in a sorted list.
#include "mindtorch/trace/launches.h"

#include <algorithm>
#include <span>
#include <utility>

#include "mindtorch/base/mostly_sorted.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

LaunchIndex::LaunchIndex(std::vector<Launch> launches) : launches_(std::move(launches)) {
  if (launches_.empty()) return;
  const auto [least, most] = std::ranges::minmax(launches_, {}, &Launch::correlation);
  first_ = least.correlation;
  const std::uint64_t range = most.correlation - first_;
  if (range / 8 >= launches_.size()) {
    sort_mostly_sorted(std::span(launches_));
    return;
  }
  dense_.assign(range + 1, kNone);
  for (auto at = launches_.rbegin(); at != launches_.rend(); ++at) dense_[at->correlation - first_] = at->value;
}

LaunchIndex LaunchIndex::of_calls(const EventColumns& events) {
  std::vector<Launch> launches;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (is_launch_kind(events.kind[i]) && events.link[i] != 0) launches.push_back({events.link[i], i});
  }
  return LaunchIndex(std::move(launches));
}

std::uint32_t LaunchIndex::find(std::uint64_t correlation) {
  if (!dense_.empty()) return correlation < first_ || correlation - first_ >= dense_.size() ? kNone : dense_[correlation - first_];
  // Activities run about in the order in which they were launched, so the next one is often the launch behind the last one.
  const auto is_next = [&] { return next_ < launches_.size() && launches_[next_].correlation == correlation; };
  if (!is_next() || (next_ > 0 && launches_[next_ - 1].correlation == correlation)) {
    const auto found = std::ranges::lower_bound(launches_, correlation, {}, &Launch::correlation);
    next_ = static_cast<std::size_t>(found - launches_.begin());
    if (!is_next()) return kNone;
  }
  return launches_[next_++].value;
}

}  // namespace mindtorch::trace

// Objects of events by the position of the event in its recording.
#include "python/src/profiler/known_events.h"

#include <utility>

namespace mindtorch::python {

nb::object KnownEvents::object(EventHandle handle) {
  const auto item = static_cast<std::size_t>(handle.event.id()) - handle.recording().first_id;
  if (pages_.size() <= item / kPage) pages_.resize(item / kPage + 1);
  std::vector<nb::object>& page = pages_[item / kPage];
  if (page.empty()) page.resize(kPage);
  nb::object& known = page[item % kPage];
  if (!known.is_valid()) known = to_python(std::move(handle));
  return known;
}

nb::object EventHandle::other(const analyze::FunctionEvent& found) const {
  const std::shared_ptr<KnownEvents> alive = known.lock();
  return alive ? alive->object({analysis, found, known}) : to_python({analysis, found, {}});
}

}  // namespace mindtorch::python

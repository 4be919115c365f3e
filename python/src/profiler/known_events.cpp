// Objects of events by the position of the event in its recording.
#include <algorithm>
#include <utility>

#include "python/src/profiler/event_sequence.h"

namespace mindtorch::python {
namespace {

// Only KnownEvents refers to the object, and nothing is attached to it: another object would do as well.
bool is_unused(const nb::object& object) {
  PyObject** const attributes = _PyObject_GetDictPtr(object.ptr());
  return Py_REFCNT(object.ptr()) == 1 && (attributes == nullptr || *attributes == nullptr);
}

}  // namespace

nb::object KnownEvents::object(EventHandle handle) {
  const auto item = static_cast<std::size_t>(handle.event.id()) - handle.recording().first_id;
  if (pages_.size() <= item / kPage) pages_.resize(item / kPage + 1);
  std::vector<nb::object>& page = pages_[item / kPage];
  if (page.empty()) page.resize(kPage);
  nb::object& known = page[item % kPage];
  if (known.is_valid()) return known;
  known = to_python(std::move(handle));
  nb::object made = known;
  // Objects are dropped when this is consistent again: what watches an object (weakref.finalize) may ask for events.
  const std::vector<nb::object> dropped = ++count_ < most_ ? std::vector<nb::object>() : take_unused();
  return made;
}

std::vector<nb::object> KnownEvents::take_unused() {
  std::vector<nb::object> unused;
  for (std::size_t looked_at = 0; looked_at < pages_.size() && count_ > most_ / 2; ++looked_at) {
    std::vector<nb::object>& page = pages_[next_page_++ % pages_.size()];
    bool is_empty = true;
    for (nb::object& object : page) {
      if (!object.is_valid()) continue;
      if (is_unused(object)) {
        unused.push_back(std::move(object));
        --count_;
      } else {
        is_empty = false;
      }
    }
    if (is_empty) page = {};
  }
  most_ = std::max(kKept, 2 * count_);  // if the program holds more, this is not tried for each new object
  return unused;
}

nb::object EventHandle::other(const analyze::FunctionEvent& found) const {
  const std::shared_ptr<KnownEvents> alive = known.lock();
  return alive ? alive->object({analysis, found, known}) : to_python({analysis, found, {}});
}

}  // namespace mindtorch::python

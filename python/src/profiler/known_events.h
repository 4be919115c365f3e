// KnownEvents: the objects that were made for events of one list. Programs find an event again by what they have attached to it, or by its
// identity, so an event has one object in a list, which is kept.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <vector>

#include "python/src/profiler/event_handle.h"

namespace mindtorch::python {

// Used with the GIL only.
class KnownEvents {
 public:
  // The object of an event. `handle.known` must be this.
  nb::object object(EventHandle handle);

 private:
  // Events are often looked at in part, so there is room only for the pages that were touched.
  static constexpr std::size_t kPage = 512;
  std::vector<std::vector<nb::object>> pages_;
};

}  // namespace mindtorch::python

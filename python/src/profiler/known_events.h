// KnownEvents: the objects that were made for events of one list. Programs find an event again by what they have attached to it, or by its
// identity, so an event has one object in a list as long as somebody can tell: as long as the program holds it or has attached something to
// it. Of the others, some hundred thousand are kept.
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
  // Takes out the objects that the program does not hold, page by page, until half of the room is free or all pages were looked at.
  std::vector<nb::object> take_unused();

  // Events are often looked at in part, so there is room only for the pages that were touched.
  static constexpr std::size_t kPage = 512;
  static constexpr std::size_t kKept = std::size_t{1} << 18;
  std::vector<std::vector<nb::object>> pages_;
  std::size_t count_ = 0;
  std::size_t most_ = kKept;   // from then on, unused objects are taken out
  std::size_t next_page_ = 0;  // where take_unused() goes on
};

}  // namespace mindtorch::python

// EventSequence: the events of a recording, or every n-th of a part of them, without an object for each.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/events.h"

namespace mindtorch::python {

struct EventSequence {
  std::shared_ptr<const analyze::Analysis> analysis;
  std::ptrdiff_t first = 0;
  std::ptrdiff_t stride = 1;
  std::size_t size = 0;

  // All events of an analysis. Makes the list on the first call for an analysis: O(events).
  static EventSequence all(std::shared_ptr<const analyze::Analysis> analysis);

  analyze::FunctionEvent operator[](std::size_t position) const {
    return analysis->events()[static_cast<std::size_t>(first + stride * static_cast<std::ptrdiff_t>(position))];
  }
  // All events in their order, so that what the analysis has ready can be used.
  bool whole() const { return first == 0 && stride == 1 && size == analysis->events().size(); }
};

}  // namespace mindtorch::python

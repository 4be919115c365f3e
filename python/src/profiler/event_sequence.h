// EventSequence: the events of a recording, or every n-th of a part of them, without an object for each.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/events.h"
#include "python/src/profiler/known_events.h"

namespace mindtorch::python {

class EventSequence {
 public:
  // All events of an analysis. They are put in order when the first of them, or their number, is asked for: O(events).
  explicit EventSequence(std::shared_ptr<const analyze::Analysis> analysis)
      : analysis_(std::move(analysis)), known_(std::make_shared<KnownEvents>()) {}

  std::size_t size() const { return part_ ? part_->size : analysis_->events().size(); }
  analyze::FunctionEvent operator[](std::size_t position) const {
    if (!part_) return analysis_->events()[position];
    return analysis_->events()[static_cast<std::size_t>(part_->first + part_->stride * static_cast<std::ptrdiff_t>(position))];
  }
  // The same event as an object of Python: one and the same for each event, which lives as long as the sequence and its parts.
  nb::object object(std::size_t position) const { return known_->object({analysis_, (*this)[position], known_}); }
  // `size` events, beginning with that at `first`.
  EventSequence part(std::ptrdiff_t first, std::ptrdiff_t stride, std::size_t size) const;

  // All events in their order, so that what the analysis has ready can be used.
  bool whole() const { return !part_; }
  const std::shared_ptr<const analyze::Analysis>& analysis() const { return analysis_; }

 private:
  struct Part {
    std::ptrdiff_t first = 0;
    std::ptrdiff_t stride = 1;
    std::size_t size = 0;
  };
  std::shared_ptr<const analyze::Analysis> analysis_;
  std::shared_ptr<KnownEvents> known_;
  std::optional<Part> part_;  // none: all events
};

}  // namespace mindtorch::python

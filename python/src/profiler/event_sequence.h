// EventSequence: the events of a recording, or every n-th of a part of them, without an object for each.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/events.h"
#include "python/src/profiler/event_handle.h"

namespace mindtorch::python {

// The objects that were made for events of one list. Programs find an event again by what they have attached to it, or by its identity, so
// an event has one object in a list as long as somebody can tell: as long as the program holds it or has attached something to it. Of the
// others, some hundred thousand are kept. Used with the GIL only.
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

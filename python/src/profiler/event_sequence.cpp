// The lazy list behind events().
#include "python/src/profiler/event_sequence.h"

#include <utility>

#include "mindtorch/base/error.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/conversions.h"
#include "python/src/profiler/event_handle.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

nb::object item(const EventSequence& events, std::ptrdiff_t position) {
  const auto size = static_cast<std::ptrdiff_t>(events.size());
  if (position < 0) position += size;
  if (position < 0 || position >= size) throw nb::index_error("list index out of range");
  return events.object(static_cast<std::size_t>(position));
}

EventSequence slice(const EventSequence& events, const nb::slice& slice) {
  const auto [start, stop, step, length] = slice.compute(events.size());
  static_cast<void>(stop);
  return events.part(start, step, length);
}

nb::list to_list(const EventSequence& events) {
  nb::list list;
  for (std::size_t i = 0; i < events.size(); ++i) list.append(events.object(i));
  return list;
}

// Walks a sequence that it keeps alive.
struct EventIterator {
  EventSequence events;
  std::size_t next = 0;
};

}  // namespace

EventSequence EventSequence::part(std::ptrdiff_t first, std::ptrdiff_t stride, std::size_t size) const {
  EventSequence chosen = *this;
  const Part own = part_.value_or(Part{});
  chosen.part_ = Part{own.first + own.stride * first, own.stride * stride, size};
  return chosen;
}

void bind_event_sequence(nb::module_& module) {
  nb::class_<EventIterator>(module, "EventIterator")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__next__",
          [](EventIterator& self) {
            if (self.next == self.events.size()) throw nb::stop_iteration();
            return self.events.object(self.next++);
          },
          nb::sig("def __next__(self) -> FunctionEvent"));
  nb::class_<EventSequence>(module, "EventSequence", "Events that are made when they are looked at.")
      .def("__len__", &EventSequence::size)
      .def("__getitem__", &item, nb::arg("position"))
      .def("__getitem__", &slice, nb::arg("slice"))
      .def("__iter__", [](const EventSequence& self) { return EventIterator{self}; })
      .def("tolist", &to_list)
      .def(
          "shares_events_with", [](const EventSequence& self, const EventSequence& other) { return self.analysis() == other.analysis(); },
          nb::arg("other"), "True if both are of one recording.")
      .def_prop_ro(
          "base_unix_ns", [](const EventSequence& self) { return self.analysis()->recording().clock.base_unix_ns; },
          "Unix time at which the start_ns of events is 0.")
      .def_prop_ro(
          "trace_start_ns",
          [](const EventSequence& self) {
            const trace::ClockInfo& clock = self.analysis()->recording().clock;
            return clock.base_unix_ns + clock.start_ns;
          },
          "Unix time at which their time_range is 0.")
      .def_prop_ro("use_device", [](const EventSequence& self) {
        const std::string& device = self.analysis()->use_device();
        return device.empty() ? nb::none() : nb::object(to_text(device));
      });
}

}  // namespace mindtorch::python

// Everything that a recording contains, in the order of its columns: also what events() merges or leaves out. For trees of raw events.

#include <cstdint>

#include "mindtorch/analyze/derived_calls.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/conversions.h"
#include "python/src/profiler/event_handle.h"
#include "python/src/profiler/event_sequence.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

nb::list all_events(const EventSequence& events) {
  const trace::Recording& recording = events.analysis()->recording();
  nb::list list;
  for (std::uint32_t i = 0; i < recording.events.size(); ++i)
    list.append(to_python(EventHandle{events.analysis(), analyze::FunctionEvent(*events.analysis(), i), {}}));
  return list;
}

// (thread, start, end, file, line, function) of each Python function that the stacks of events tell of.
nb::list derived_calls(const EventSequence& events) {
  const trace::Recording& recording = events.analysis()->recording();
  nb::list list;
  for (const analyze::DerivedCall& call : analyze::derived_calls(recording)) {
    const trace::Frame& frame = recording.stacks.frames[call.frame];
    list.append(nb::make_tuple(recording.tracks[call.track].number, call.start_ns, call.end_ns, to_text(recording.names[frame.file]),
                               frame.line, to_text(recording.names[frame.function])));
  }
  return list;
}

// (time, thread, address, bytes, device type, device index, total allocated, total reserved) of each allocation and free.
nb::list memory_reports(const EventSequence& events) {
  const trace::Recording& recording = events.analysis()->recording();
  const trace::MemoryColumns& memory = recording.memory;
  nb::list list;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const bool is_cpu = memory.device[i].type == trace::DeviceType::kCpu;
    list.append(nb::make_tuple(memory.time_ns[i], recording.tracks[memory.track[i]].number, memory.address[i], memory.bytes[i],
                               to_python(memory.device[i].type), is_cpu ? -1 : int{memory.device[i].index}, memory.total_allocated[i],
                               memory.total_reserved[i]));
  }
  return list;
}

}  // namespace

void bind_all_events(nb::module_& module) {
  module.def("all_events", &all_events, nb::arg("events"));
  module.def("derived_calls", &derived_calls, nb::arg("events"));
  module.def("memory_reports", &memory_reports, nb::arg("events"));
}

}  // namespace mindtorch::python

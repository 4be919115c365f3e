// Everything that a recording contains, in the order of its columns: also what events() merges or leaves out. For trees of raw events.
#include <nanobind/stl/string.h>

#include <cstdint>

#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/conversions.h"
#include "python/src/profiler/event_handle.h"
#include "python/src/profiler/event_sequence.h"

namespace mindtorch::python {
namespace {

nb::list all_events(const EventSequence& events) {
  const trace::Recording& recording = events.analysis()->recording();
  nb::list list;
  for (std::uint32_t i = 0; i < recording.events.size(); ++i)
    list.append(nb::cast(EventHandle{events.analysis(), analyze::FunctionEvent(*events.analysis(), i)}));
  return list;
}

// For each of all_events() the Python functions that it was called from, as (file, line, function), innermost first. An event of the
// backward pass has those that were open when it ran, while FunctionEvent.stack has those of its forward call.
nb::list own_frames(const EventSequence& events) {
  const trace::Recording& recording = events.analysis()->recording();
  const trace::Stacks& stacks = recording.stacks;
  nb::list frames;
  for (const trace::Frame& frame : stacks.frames)
    frames.append(nb::make_tuple(to_text(recording.names[frame.file]), frame.line, to_text(recording.names[frame.function])));
  nb::list list;
  for (std::uint32_t i = 0; i < recording.events.size(); ++i) {
    nb::list stack;
    for (const trace::StackId id : stacks.of_event.find(i))
      for (const std::uint32_t frame : stacks.frames_of(id)) stack.append(frames[frame]);
    list.append(stack);
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
  module.def("own_frames", &own_frames, nb::arg("events"));
  module.def("memory_reports", &memory_reports, nb::arg("events"));
}

}  // namespace mindtorch::python

// Turns intervals into begin and end packets.
#include "mindtorch/export/perfetto/event_packets.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "mindtorch/export/perfetto/fields.h"
#include "mindtorch/export/row_walk.h"
#include "mindtorch/trace/chrome_format.h"
#include "mindtorch/trace/tensor_identity.h"

namespace mindtorch::exporter::perfetto {
namespace {

using trace::Attribute;
using trace::EventIndex;
using trace::EventKind;

// Interned ids of keys that are ours; attribute keys come after them.
enum Key : std::uint64_t {
  kSequence = 1,
  kForwardThread,
  kCorrelation,
  kDims,
  kTypes,
  kStrides,
  kConcrete,
  kStack,
  kUnfinished,
  kFirstAttribute
};

}  // namespace

EventPackets::EventPackets(const analyze::Analysis& analysis, const Layout& layout, const Uuids& uuids, std::int64_t first_ns)
    : recording_(analysis.recording()), layout_(layout), first_ns_(first_ns), stack_texts_(recording_.stacks.size()) {
  const auto add = [&](const std::vector<Flow>& flows, Uuids::Of kind) {
    for (const Flow& flow : flows) {
      arrows_.push_back({flow.from, uuids(kind, flow.id), false});
      arrows_.push_back({flow.to, uuids(kind, flow.id), true});
    }
  };
  add(forward_backward_flows(recording_), Uuids::Of::kForwardBackward);
  add(launch_flows(analysis), Uuids::Of::kLaunch);
  add(collective_flows(recording_), Uuids::Of::kCollective);
  std::ranges::sort(arrows_);
}

void EventPackets::append_row(Sequence& sequence, std::uint32_t row) {
  walk_row(
      recording_, layout_, row, [&](EventIndex i) { append_begin(sequence, i, track_event::kSliceBegin); },
      [&](EventIndex i) {
        sequence.begin_event(track_event::kSliceEnd);
        sequence.end_event(recording_.events.end_ns(i) - first_ns_);
      },
      [&](EventIndex i) { append_begin(sequence, i, track_event::kInstant); });
}

void EventPackets::append_begin(Sequence& sequence, EventIndex event, std::uint32_t type) {
  const trace::EventColumns& events = recording_.events;
  sequence.begin_event(type);
  sequence.set_name(events.name[event] + 1, recording_.name(event));
  sequence.set_category(static_cast<std::uint64_t>(events.kind[event]) + 1,
                        trace::chrome_format::category(events.kind[event], events.device[event].type));
  append_arrows(sequence, event);
  append_arguments(sequence, event);
  sequence.end_event(events.start_ns[event] - first_ns_);
}

void EventPackets::append_arrows(Sequence& sequence, EventIndex event) const {
  if (arrows_.empty()) return;
  for (auto at = std::ranges::lower_bound(arrows_, event, {}, &Arrow::event); at != arrows_.end() && at->event == event; ++at) {
    at->terminates ? sequence.add_terminating_flow(at->id) : sequence.add_flow(at->id);
  }
}

void EventPackets::append_arguments(Sequence& sequence, EventIndex event) {
  const trace::EventColumns& events = recording_.events;
  const EventKind kind = events.kind[event];
  if (trace::has_correlation(kind)) {
    sequence.annotate(kCorrelation, "correlation", static_cast<std::int64_t>(events.link[event]));
  } else if (const std::int64_t number = trace::sequence_of(events.link[event]); number >= 0 && trace::has_sequence(kind)) {
    sequence.annotate(kSequence, "Sequence number", number);
    if (const auto thread = trace::forward_thread_of(events.link[event]))
      sequence.annotate(kForwardThread, "Fwd thread id", std::int64_t{thread});
  }
  if ((events.flags[event] & trace::kUnfinished) != 0) sequence.annotate(kUnfinished, "unfinished", true);
  if (const auto words = recording_.inputs.find(event); !words.empty() && trace::takes_arguments(kind)) {
    format_inputs(words, recording_.names, inputs_);
    sequence.annotate(kDims, "Input Dims", inputs_.dims);
    sequence.annotate(kTypes, "Input type", inputs_.types);
    sequence.annotate(kStrides, "Input Strides", inputs_.strides);
    sequence.annotate(kConcrete, "Concrete Inputs", inputs_.concrete);
  }
  if (const auto stack = recording_.stacks.of_event.find(event); !stack.empty())
    sequence.annotate_numbered(kStack, "stack", stack.front(), stack_text(stack.front()));
  for (const Attribute& attribute : recording_.attributes.find(event)) append_attribute(sequence, attribute);
}

void EventPackets::append_attribute(Sequence& sequence, const Attribute& attribute) const {
  const std::string& key = recording_.names[attribute.key];
  const std::uint64_t id = kFirstAttribute + attribute.key;
  switch (attribute.type) {
    case Attribute::Type::kInt: sequence.annotate(id, key, attribute.bits); return;
    case Attribute::Type::kBool: sequence.annotate(id, key, attribute.bits != 0); return;
    case Attribute::Type::kDouble: sequence.annotate(id, key, std::bit_cast<double>(attribute.bits)); return;
    case Attribute::Type::kText:
    case Attribute::Type::kJson: sequence.annotate(id, key, recording_.names[static_cast<std::size_t>(attribute.bits)]); return;
  }
}

const std::string& EventPackets::stack_text(trace::StackId stack) {
  std::string& text = stack_texts_[stack];
  if (text.empty()) {
    for (const std::uint32_t id : recording_.stacks.frames_of(stack)) {
      const trace::Frame& frame = recording_.stacks.frames[id];
      text +=
          fmt::format("{}{}:{}:{}", text.empty() ? "" : "\n", recording_.names[frame.file], frame.line, recording_.names[frame.function]);
    }
  }
  return text;
}

void EventPackets::append_counter(Sequence& sequence, const trace::CounterTrack& counter) const {
  for (std::size_t i = 0; i < counter.size(); ++i) {
    sequence.begin_event(track_event::kCounter);
    sequence.set_counter(counter.values[i]);
    sequence.end_event(counter.times_ns[i] - first_ns_);
  }
}

void EventPackets::append_counter(Sequence& sequence, trace::Device device, const trace::Column<std::int64_t>& values) const {
  const trace::MemoryColumns& memory = recording_.memory;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory.device[i] != device) continue;
    sequence.begin_event(track_event::kCounter);
    sequence.set_counter(values[i]);
    sequence.end_event(memory.time_ns[i] - first_ns_);
  }
}

}  // namespace mindtorch::exporter::perfetto

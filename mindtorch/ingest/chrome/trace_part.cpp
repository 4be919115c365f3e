// Putting parts one after another: names, rows, frames and stacks of the second are mapped to those of the first.
#include "mindtorch/ingest/chrome/trace_part.h"

#include <algorithm>
#include <utility>

#include "mindtorch/trace/inputs.h"

namespace mindtorch::ingest::chrome {
namespace {

using trace::EventIndex;
using trace::NameId;
using trace::Recording;

template <class T>
void append_column(trace::Column<T>& into, const trace::Column<T>& next) {
  into.insert(into.end(), next.begin(), next.end());
}

template <class T>
void append_table(trace::SideTable<T>& into, const trace::SideTable<T>& next, EventIndex first) {
  for (std::size_t row = 0; row < next.events.size(); ++row) {
    into.add(first + next.events[row], {next.values.data() + next.offsets[row], next.values.data() + next.offsets[row + 1]});
  }
}

std::vector<NameId> map_names(Recording& into, const Recording& next) {
  trace::NameInterner interner;
  std::vector<NameId> ids(next.names.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = interner.intern(into.names, next.names[i]);
  return ids;
}

std::vector<RowId> map_rows(TracePart& into, const TracePart& next) {
  std::vector<RowId> ids;
  for (std::size_t r = 0; r < next.rows.size(); ++r) {
    const auto at = std::ranges::find(into.rows, next.rows[r]);
    ids.push_back(static_cast<RowId>(at - into.rows.begin()));
    if (at == into.rows.end()) {
      into.rows.push_back(next.rows[r]);
      into.streams.push_back(next.streams[r]);
    } else if (next.streams[r] >= 0) {
      into.streams[ids.back()] = next.streams[r];
    }
  }
  return ids;
}

// Texts in attributes and inputs are names too.
void map_side_names(Recording& next, const std::vector<NameId>& names) {
  for (trace::Attribute& attribute : next.attributes.values) {
    attribute.key = names[attribute.key];
    const bool is_text = attribute.type == trace::Attribute::Type::kText || attribute.type == trace::Attribute::Type::kJson;
    if (is_text) attribute.bits = names[static_cast<std::size_t>(attribute.bits)];
  }
  for (std::size_t row = 0; row < next.inputs.events.size(); ++row) {
    trace::map_input_names({next.inputs.values.data() + next.inputs.offsets[row], next.inputs.values.data() + next.inputs.offsets[row + 1]},
                           names);
  }
  for (trace::Frame& frame : next.stacks.frames) frame = {names[frame.file], names[frame.function], frame.line};
}

void append_stacks(trace::Stacks& into, const trace::Stacks& next, EventIndex first) {
  trace::StackInterner interner;
  // Teach the interner what `into` holds already: the ids come out as they are.
  std::vector<trace::Frame> frames;
  const auto stack_of = [&](const trace::Stacks& stacks, trace::StackId stack) {
    frames.clear();
    for (const std::uint32_t id : stacks.frames_of(stack)) frames.push_back(stacks.frames[id]);
    return std::span<const trace::Frame>(frames);
  };
  trace::Stacks merged;
  for (trace::StackId s = 0; s < into.size(); ++s) interner.intern(merged, stack_of(into, s));
  std::vector<trace::StackId> ids(next.size());
  for (trace::StackId s = 0; s < next.size(); ++s) ids[s] = interner.intern(merged, stack_of(next, s));
  merged.of_event = std::move(into.of_event);
  for (std::size_t row = 0; row < next.of_event.events.size(); ++row) {
    merged.of_event.add(first + next.of_event.events[row], {&ids[next.of_event.values[row]], 1});
  }
  into = std::move(merged);
}

void append_events(Recording& into, const Recording& next, const std::vector<NameId>& names) {
  append_column(into.events.start_ns, next.events.start_ns);
  append_column(into.events.duration_ns, next.events.duration_ns);
  append_column(into.events.link, next.events.link);
  append_column(into.events.device, next.events.device);
  append_column(into.events.kind, next.events.kind);
  append_column(into.events.flags, next.events.flags);
  into.events.name.reserve(into.events.name.size() + next.events.name.size());
  for (const NameId name : next.events.name) into.events.name.push_back(names[name]);
}

void append_memory(trace::MemoryColumns& into, const trace::MemoryColumns& next, const std::vector<RowId>& rows) {
  append_column(into.time_ns, next.time_ns);
  append_column(into.address, next.address);
  append_column(into.bytes, next.bytes);
  append_column(into.device, next.device);
  append_column(into.total_allocated, next.total_allocated);
  append_column(into.total_reserved, next.total_reserved);
  for (const RowId row : next.track) into.track.push_back(rows[row]);
}

}  // namespace

void append_part(TracePart& into, TracePart&& next) {
  const auto first = static_cast<EventIndex>(into.recording.events.size());
  const std::vector<NameId> names = map_names(into.recording, next.recording);
  const std::vector<RowId> rows = map_rows(into, next);
  map_side_names(next.recording, names);
  append_events(into.recording, next.recording, names);
  append_table(into.recording.inputs, next.recording.inputs, first);
  append_table(into.recording.attributes, next.recording.attributes, first);
  append_stacks(into.recording.stacks, next.recording.stacks, first);
  append_memory(into.recording.memory, next.recording.memory, rows);
  into.row_of_event.reserve(into.row_of_event.size() + next.row_of_event.size());
  for (const RowId row : next.row_of_event) into.row_of_event.push_back(rows[row]);
  into.row_names.merge(next.row_names);
  into.header.merge(next.header);
  for (const auto& [what, count] : next.skipped) into.skipped[what] += count;
  if (next.window_start_ns != TracePart::kNoTime) into.window_start_ns = next.window_start_ns;
  if (next.window_end_ns != TracePart::kNoTime) into.window_end_ns = next.window_end_ns;
  into.saw_npu |= next.saw_npu;
  into.saw_cuda |= next.saw_cuda;
  into.elements += next.elements;
  into.flow_starts.insert(into.flow_starts.end(), next.flow_starts.begin(), next.flow_starts.end());
  into.flow_ends.insert(into.flow_ends.end(), next.flow_ends.begin(), next.flow_ends.end());
}

}  // namespace mindtorch::ingest::chrome

// Names, rows, frames and stacks of each part are mapped to those of the whole.
#include "mindtorch/ingest/chrome/part_merger.h"

#include <span>
#include <utility>

#include "mindtorch/trace/inputs.h"

namespace mindtorch::ingest::chrome {
namespace {

using trace::EventIndex;
using trace::NameId;
using trace::Recording;

template <class T>
void append_table(trace::SideTable<T>& into, const trace::SideTable<T>& next, EventIndex first) {
  for (std::size_t row = 0; row < next.events.size(); ++row) into.add(first + next.events[row], next.row(row));
}

template <class T>
void append_table(trace::SharedTable<T>& into, const trace::SharedTable<T>& next, EventIndex first) {
  for (std::size_t row = 0; row < next.events.size(); ++row) into.add(first + next.events[row], next.row(row));
}

// Texts in attributes and inputs are names too.
void map_side_names(Recording& next, const std::vector<NameId>& names) {
  for (trace::Attribute& attribute : next.attributes.values) {
    trace::map_names(attribute, [&](NameId id) { return names[id]; });
  }
  for (std::size_t row = 0; row < next.inputs.events.size(); ++row) {
    trace::map_input_names({next.inputs.values.data() + next.inputs.offsets[row], next.inputs.values.data() + next.inputs.offsets[row + 1]},
                           names);
  }
  for (trace::Frame& frame : next.stacks.frames) frame = {names[frame.file], names[frame.function], frame.line};
}

// Replaces the ids from row `first` on.
template <class Id>
void map_ids(trace::Column<Id>& column, std::size_t first, const std::vector<Id>& new_ids) {
  for (Id& id : std::span(column).subspan(first)) id = new_ids[id];
}

void append_events(trace::EventColumns& into, const trace::EventColumns& next, const std::vector<NameId>& names) {
  const std::size_t first = into.size();
  into.append(next);
  map_ids(into.name, first, names);
}

void append_memory(trace::MemoryColumns& into, const trace::MemoryColumns& next, const std::vector<RowId>& rows) {
  const std::size_t first = into.size();
  into.append(next);
  map_ids(into.track, first, rows);
}

// A stack as frames; valid until the next call.
class FrameList {
 public:
  std::span<const trace::Frame> of(const trace::Stacks& stacks, trace::StackId stack) {
    frames_.clear();
    for (const std::uint32_t id : stacks.frames_of(stack)) frames_.push_back(stacks.frames[id]);
    return frames_;
  }

 private:
  std::vector<trace::Frame> frames_;
};

}  // namespace

PartMerger::PartMerger(TracePart&& first) : whole_(std::move(first)) {
  // The interner knows only stacks that came through it. Interned in their order, they keep their ids.
  trace::Stacks learned;
  FrameList frames;
  for (trace::StackId s = 0; s < whole_.recording.stacks.size(); ++s) stacks_.intern(learned, frames.of(whole_.recording.stacks, s));
  learned.of_event = std::move(whole_.recording.stacks.of_event);
  whole_.recording.stacks = std::move(learned);
  for (RowId r = 0; r < whole_.rows.size(); ++r) {
    const auto same = [&](std::uint32_t id) { return whole_.rows[id] == whole_.rows[r]; };
    rows_.find_or_add(hash_of(whole_.rows[r]), same, [&] { return r; });
  }
}

std::vector<NameId> PartMerger::map_names(const Recording& next) {
  std::vector<NameId> ids(next.names.size());
  std::vector<std::string>& names = whole_.recording.names;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t known = names.size();
    ids[i] = names_.intern(names, next.names[i]);
    if (names.size() > known) text_bytes_ += next.names[i].size();
  }
  return ids;
}

std::vector<RowId> PartMerger::map_rows(const TracePart& next) {
  std::vector<RowId> ids;
  for (std::size_t r = 0; r < next.rows.size(); ++r) {
    const RowKey& key = next.rows[r];
    ids.push_back(rows_.find_or_add(
        hash_of(key), [&](std::uint32_t id) { return whole_.rows[id] == key; },
        [&] {
          whole_.rows.push_back(key);
          whole_.streams.push_back(-1);
          return static_cast<RowId>(whole_.rows.size() - 1);
        }));
    if (next.streams[r] >= 0) whole_.streams[ids.back()] = next.streams[r];
  }
  return ids;
}

void PartMerger::append_stacks(const TracePart& part, EventIndex first) {
  const trace::Stacks& next = part.recording.stacks;
  trace::Stacks& stacks = whole_.recording.stacks;
  FrameList frames;
  std::vector<trace::StackId> ids(next.size());
  for (trace::StackId s = 0; s < next.size(); ++s) ids[s] = stacks_.intern(stacks, frames.of(next, s));
  for (std::size_t row = 0; row < next.of_event.events.size(); ++row) {
    stacks.of_event.add(first + next.of_event.events[row], {&ids[next.of_event.values[row]], 1});
  }
  for (const auto& [id, stack] : part.stack_of_id) whole_.stack_of_id.emplace_back(id, ids[stack]);
}

void PartMerger::append(TracePart&& next) {
  const auto first = static_cast<EventIndex>(whole_.recording.events.size());
  const std::vector<NameId> names = map_names(next.recording);
  const std::vector<RowId> rows = map_rows(next);
  map_side_names(next.recording, names);
  append_events(whole_.recording.events, next.recording.events, names);
  append_table(whole_.recording.inputs, next.recording.inputs, first);
  append_table(whole_.recording.attributes, next.recording.attributes, first);
  append_stacks(next, first);
  for (const CounterSample& sample : next.counter_samples)
    whole_.counter_samples.push_back({names[sample.name], names[sample.unit], names[sample.process], sample.time_ns, sample.value});
  append_memory(whole_.recording.memory, next.recording.memory, rows);
  whole_.row_of_event.reserve(whole_.row_of_event.size() + next.row_of_event.size());
  for (const RowId row : next.row_of_event) whole_.row_of_event.push_back(rows[row]);
  whole_.row_names.merge(next.row_names);
  whole_.header.merge(next.header);
  whole_.header_bytes += next.header_bytes;
  for (const auto& [what, count] : next.skipped) whole_.skipped[what] += count;
  if (next.window_start_ns != TracePart::kNoTime) whole_.window_start_ns = next.window_start_ns;
  if (next.window_end_ns != TracePart::kNoTime) whole_.window_end_ns = next.window_end_ns;
  whole_.saw_npu |= next.saw_npu;
  whole_.saw_cuda |= next.saw_cuda;
  whole_.has_events |= next.has_events;
  whole_.elements += next.elements;
  whole_.flow_starts.insert(whole_.flow_starts.end(), next.flow_starts.begin(), next.flow_starts.end());
  whole_.flow_ends.insert(whole_.flow_ends.end(), next.flow_ends.begin(), next.flow_ends.end());
}

TracePart merge_parts(std::vector<TracePart> parts) {
  PartMerger merger(std::move(parts[0]));
  for (std::size_t i = 1; i < parts.size(); ++i) merger.append(std::exchange(parts[i], {}));
  return merger.take();
}

}  // namespace mindtorch::ingest::chrome

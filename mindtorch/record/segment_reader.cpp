// Converts sealed segments to rows of a Recording.
#include "mindtorch/record/segment_reader.h"

#include <algorithm>
#include <type_traits>

#include "mindtorch/record/names.h"
#include "mindtorch/record/side_entries.h"
#include "mindtorch/record/stack_provider.h"
#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/tensor_identity.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::record {
namespace {

constexpr std::uint32_t kLeftOut = ~std::uint32_t{0};

// The columns as bare pointers: a store to a byte column may alias anything, and would make the compiler reload every vector's data
// pointer.
using ColumnPointers = trace::EventFields<std::add_pointer_t>;

ColumnPointers pointers_to(trace::EventColumns& columns) {
  ColumnPointers pointers;
  trace::EventColumns::for_each([](auto*& pointer, auto& column) { pointer = column.data(); }, pointers, columns);
  return pointers;
}

// Fills one row from a slot. Returns false if the scope is still open.
bool fill_row(const Slot& slot, trace::EventIndex row, TickMapping& mapping, const ReadOptions& options, IdMaps& ids,
              const ColumnPointers& columns) {
  std::uint64_t end = end_of(slot);
  const bool open = end == 0 || (options.end_of_open != 0 && end > options.end_of_open);
  if (open) end = options.end_of_open;
  const std::int64_t start_ns = mapping.to_ns(slot.start);
  const std::int64_t end_ns = end > slot.start ? mapping.to_ns(end) : start_ns;
  columns.start_ns[row] = start_ns;
  columns.duration_ns[row] = end_ns - start_ns;
  columns.name[row] = ids.name(slot.name);
  columns.link[row] = link_of(slot);
  columns.device[row] = slot.device;
  columns.kind[row] = slot.kind;
  columns.flags[row] = static_cast<std::uint8_t>(flags_of(slot) | (open ? trace::kUnfinished : 0));
  // The recorder interns no names for steps, as interned names are never freed. The kind comes from the column, because a compiler may
  // compare both fields of the slot with one load, which covers the flags between them that another thread may set.
  if (columns.kind[row] == EventKind::kStep && slot.name == 0) [[unlikely]]
    columns.name[row] = ids.name(trace::step_name(trace::step_of(columns.link[row])));
  return !open;
}

bool follows(const ColumnPointers& columns, trace::EventIndex row) {
  if (columns.start_ns[row] != columns.start_ns[row - 1]) return columns.start_ns[row] > columns.start_ns[row - 1];
  return columns.duration_ns[row] <= columns.duration_ns[row - 1];
}

void add_memory(const MemoryEntry& entry, trace::TrackId track, trace::MemoryColumns& memory) {
  memory.push_back({.time_ns = static_cast<std::int64_t>(entry.ticks),
                    .track = track,
                    .address = entry.address,
                    .bytes = entry.bytes,
                    .device = entry.device,
                    .total_allocated = entry.total_allocated,
                    .total_reserved = entry.total_reserved});
}

// The side tables of a Recording, or those of LateRows.
struct SideTables {
  trace::SideTable<std::int64_t>& inputs;
  trace::SharedTable<trace::Attribute>& attributes;
  trace::SideTable<trace::StackId>& stacks;
};

// An entry that belongs to an event.
void read_entry_of_event(const SideEntry& entry, std::span<const std::int64_t> latest_stack, trace::EventIndex event, IdMaps& ids,
                         const SideTables& out) {
  switch (entry.kind) {
    case SideKind::kInputs: out.inputs.add(event, ids.inputs(entry.words)); break;
    case SideKind::kStack:
    case SideKind::kSameStack: {
      const trace::StackId stack = ids.stack(latest_stack);
      out.stacks.add(event, {&stack, 1});
      break;
    }
    case SideKind::kAttribute: {
      const AttributeEntry written = AttributeEntry::unpack(entry.words);
      trace::Attribute attribute{written.key, written.type, written.bits};
      trace::map_names(attribute, [&](NameId id) { return ids.name(id); });
      out.attributes.add(event, {&attribute, 1});
      break;
    }
    case SideKind::kMemory:
    case SideKind::kMemoryTag: break;
  }
}

// An entry that belongs to no event.
void read_loose_entry(const SideEntry& entry, trace::TrackId track, TickMapping& mapping, const ReadOptions& options, trace::Recording& out,
                      ReadCounts& counts) {
  switch (entry.kind) {
    case SideKind::kMemory: {
      const MemoryEntry report = MemoryEntry::unpack(entry.words);
      if (report.ticks < options.window_start)
        ++counts.side_left_out;
      else
        add_memory(report, track, out.memory);
      break;
    }
    case SideKind::kMemoryTag: {
      const MemoryTagEntry tag = MemoryTagEntry::unpack(entry.words);
      if (tag.ticks < options.window_start)
        ++counts.side_left_out;
      else
        out.memory_tags.push_back({mapping.to_ns(tag.ticks), tag.address, tag.category});
      break;
    }
    case SideKind::kInputs:
    case SideKind::kStack:
    case SideKind::kSameStack:
    case SideKind::kAttribute: break;
  }
}

constexpr bool belongs_to_event(SideKind kind) {
  return kind == SideKind::kInputs || kind == SideKind::kStack || kind == SideKind::kSameStack || kind == SideKind::kAttribute;
}

}  // namespace

trace::NameId IdMaps::new_name(NameId process_id) {
  if (process_id >= of_process_id_.size()) of_process_id_.resize(std::max<std::size_t>(process_id + 1, name_count()), 0);
  return of_process_id_[process_id] = name(name_text(process_id));
}

std::size_t IdMaps::WordsHash::operator()(const std::vector<std::int64_t>& words) const noexcept {
  std::size_t hash = words.size();
  for (const std::int64_t word : words) hash = (hash ^ static_cast<std::size_t>(word)) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 32);
}

trace::StackId IdMaps::stack(std::span<const std::int64_t> words) {
  const auto [found, is_new] = stack_ids_.try_emplace({words.begin(), words.end()}, 0);
  if (!is_new) return found->second;
  std::vector<trace::Frame> frames;
  if (provider_ != nullptr)
    for (const SourcePlace& place : provider_->resolve({reinterpret_cast<const std::uint64_t*>(words.data()), words.size()}))
      frames.push_back({name(place.file), name(place.function), place.line});
  return found->second = stack_interner_.intern(stacks_, frames);
}

std::span<const std::int64_t> IdMaps::inputs(std::span<const std::int64_t> words) {
  using Kind = trace::Input::Kind;
  bool copied = false;
  for (std::size_t at = 1; at < words.size();) {
    const std::int64_t header = words[at];
    const std::uint32_t count = trace::input_count(header);
    if (trace::input_kind(header) == trace::kIdentities) break;  // always last
    switch (trace::input_kind(header)) {
      case Kind::kTensor: at += 1 + (trace::input_contiguous(header) ? 1 : 2) * std::size_t{count}; break;
      case Kind::kIntList:
      case Kind::kBoolList:
      case Kind::kDoubleList: at += 1 + std::size_t{count}; break;
      case Kind::kInt:
      case Kind::kDouble:
      case Kind::kBool: at += 2; break;
      case Kind::kText:
        if (!copied) scratch_.assign(words.begin(), words.end());
        copied = true;
        scratch_[at + 1] = name(static_cast<NameId>(words[at + 1]));
        at += 2;
        break;
      case Kind::kTensorList:
      case Kind::kNone:
      case Kind::kOther: at += 1; break;
    }
  }
  return copied ? std::span<const std::int64_t>(scratch_) : words;
}

void read_segment(const Segment& segment, trace::TrackId track, TickMapping& mapping, const ReadOptions& options, IdMaps& ids,
                  trace::Recording& out, ReadCounts& counts) {
  SegmentPosition position;
  LateRows late;  // stays empty, because nothing was read earlier
  read_segment_from(position, segment, track, mapping, options, ids, out, late, counts);
}

void read_segment_from(SegmentPosition& position, const Segment& segment, trace::TrackId track, TickMapping& mapping,
                       const ReadOptions& options, IdMaps& ids, trace::Recording& out, LateRows& late, ReadCounts& counts) {
  const std::uint32_t first_slot = position.slots, slots = segment.used - first_slot;
  const auto first = static_cast<trace::EventIndex>(out.events.size());
  std::vector<trace::EventIndex> row_of_slot;  // only filled if rows are left out: else slot i is row first + i
  if (options.window_start != 0) row_of_slot.assign(slots, kLeftOut);
  out.events.resize(first + slots);
  const ColumnPointers columns = pointers_to(out.events);
  trace::EventIndex row = first;
  for (std::uint32_t i = 0; i < slots; ++i) {
    Slot& slot = segment.slots[first_slot + i];
    if (slot.start < options.window_start) {
      ++counts.left_out;
      continue;
    }
    if (!row_of_slot.empty()) row_of_slot[i] = row;
    if (!fill_row(slot, row, mapping, options, ids, columns)) ++counts.unfinished;
    if (row > first && !follows(columns, row)) counts.in_order = false;
    ++row;
  }
  out.events.resize(row);
  position.slots = segment.used;
  const SideTables tables{out.inputs, out.attributes, out.stacks.of_event}, late_tables{late.inputs, late.attributes, late.stacks};
  for_each_side_entry(segment, position, [&](const SideEntry& entry) {
    if (entry.kind == SideKind::kStack) position.latest_stack = entry.words;  // also of events that are left out
    if (!belongs_to_event(entry.kind)) return read_loose_entry(entry, track, mapping, options, out, counts);
    if (entry.slot_index < first_slot) return read_entry_of_event(entry, position.latest_stack, entry.slot_index, ids, late_tables);
    const std::uint32_t slot = entry.slot_index - first_slot;
    const trace::EventIndex event = row_of_slot.empty() ? first + slot : row_of_slot[slot];
    if (event != kLeftOut) read_entry_of_event(entry, position.latest_stack, event, ids, tables);
  });
}

}  // namespace mindtorch::record

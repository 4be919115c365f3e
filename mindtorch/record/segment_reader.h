// Converts sealed segments to rows of a Recording. stop() converts the segments in memory, and the spill thread those that go to the file.
// Internal to record.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "mindtorch/record/log_storage.h"
#include "mindtorch/record/tick_mapping.h"
#include "mindtorch/trace/interning.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::record {

class StackProvider;

// Maps the process's ids of names and stacks to dense ids of one recording, in order of first use. The tables belong to the caller.
class IdMaps {
 public:
  IdMaps(std::vector<std::string>& names, trace::Stacks& stacks, StackProvider* provider)
      : names_(names), stacks_(stacks), provider_(provider) {}

  trace::NameId name(NameId process_id) {
    if (process_id < of_process_id_.size() && of_process_id_[process_id] != 0) [[likely]]
      return of_process_id_[process_id];
    return new_name(process_id);
  }
  trace::NameId name(std::string_view text) { return interner_.intern(names_, text); }
  trace::StackId stack(std::span<const std::int64_t> words);
  // Frames whose names are ids of the recording.
  trace::StackId stack(std::span<const trace::Frame> frames) { return stack_interner_.intern(stacks_, frames); }
  // Encoded arguments with the process's ids of texts replaced by the recording's. Valid until the next call.
  std::span<const std::int64_t> inputs(std::span<const std::int64_t> words);

 private:
  struct WordsHash {
    std::size_t operator()(const std::vector<std::int64_t>& words) const noexcept;
  };
  trace::NameId new_name(NameId process_id);

  std::vector<std::string>& names_;
  trace::Stacks& stacks_;
  StackProvider* provider_;
  trace::NameInterner interner_;
  trace::StackInterner stack_interner_;
  std::vector<trace::NameId> of_process_id_;
  std::unordered_map<std::vector<std::int64_t>, trace::StackId, WordsHash> stack_ids_;
  std::vector<std::int64_t> scratch_;
};

// The payload of one side entry.
struct SideEntry {
  SideKind kind;
  std::uint32_t slot_index;
  std::span<const std::int64_t> words;
};

// How far a segment has been read. A segment that is still being filled is read in parts.
struct SegmentPosition {
  std::uint32_t slots = 0;
  std::size_t side_chunk = 0;
  std::uint32_t side_words = 0;                // of that chunk
  std::span<const std::int64_t> latest_stack;  // of the latest kStack entry, which kSameStack entries refer to
};

// Calls visit(SideEntry) for every side entry of a segment from `position` on, in the order they were written, and moves the position
// behind them.
template <class Visit>
void for_each_side_entry(const Segment& segment, SegmentPosition& position, Visit visit) {
  for (;;) {
    if (position.side_chunk == segment.side.size()) return;
    const SideChunk& chunk = segment.side[position.side_chunk];
    while (position.side_words < chunk.used) {
      const SideHeader header = unpack_side_header(chunk.words[position.side_words]);
      visit(SideEntry{header.kind, header.slot_index, {chunk.words + position.side_words + 1, header.words}});
      position.side_words += 1 + header.words;
    }
    if (position.side_chunk + 1 == segment.side.size()) return;  // entries may still be added to the last one
    ++position.side_chunk;
    position.side_words = 0;
  }
}
template <class Visit>
void for_each_side_entry(const Segment& segment, Visit visit) {
  SegmentPosition position;
  for_each_side_entry(segment, position, visit);
}

struct ReadOptions {
  std::uint64_t window_start = 0;  // what started earlier is left out and counted
  // End of scopes that are still open, or that have ended later, while a snapshot is read; 0 leaves open ones at their start. All of them
  // get the flag kUnfinished.
  std::uint64_t end_of_open = 0;
};

struct ReadCounts {
  std::uint64_t left_out = 0;
  std::uint64_t side_left_out = 0;  // memory reports, which belong to no event
  std::uint64_t unfinished = 0;
  bool in_order = true;  // starts never decrease, longer first
};

// Side data of events that were read earlier: the rows count from the first slot of the segment.
struct LateRows {
  trace::SideTable<std::int64_t> inputs;
  trace::SharedTable<trace::Attribute> attributes;
  trace::SideTable<trace::StackId> stacks;
  bool empty() const { return inputs.empty() && attributes.empty() && stacks.empty(); }
};

// Appends the events of a sealed segment, and their side data, to `out`. Times become mapping.to_ns(ticks), but those of memory reports
// stay in ticks: the order of two threads' reports may be lost in nanoseconds, so they are sorted first.
void read_segment(const Segment& segment, trace::TrackId track, TickMapping& mapping, const ReadOptions& options, IdMaps& ids,
                  trace::Recording& out, ReadCounts& counts);
// Reads what has come behind `position`, which moves.
void read_segment_from(SegmentPosition& position, const Segment& segment, trace::TrackId track, TickMapping& mapping,
                       const ReadOptions& options, IdMaps& ids, trace::Recording& out, LateRows& late, ReadCounts& counts);

}  // namespace mindtorch::record

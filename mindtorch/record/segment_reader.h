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

// Calls visit(SideEntry) for every side entry of a sealed segment, in the order they were written.
template <class Visit>
void for_each_side_entry(const Segment& segment, Visit visit) {
  for (const SideChunk& chunk : segment.side) {
    for (std::uint32_t at = 0; at < chunk.used;) {
      const SideHeader header = unpack_side_header(chunk.words[at]);
      visit(SideEntry{header.kind, header.slot_index, {chunk.words + at + 1, header.words}});
      at += 1 + header.words;
    }
  }
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

// Appends the events of a sealed segment, and their side data, to `out`. Times become mapping.to_ns(ticks).
void read_segment(const Segment& segment, trace::TrackId track, TickMapping& mapping, const ReadOptions& options, IdMaps& ids,
                  trace::Recording& out, ReadCounts& counts);

}  // namespace mindtorch::record

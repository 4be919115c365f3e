// PartMerger: puts the parts of a trace one after another.
#pragma once

#include <cstdint>
#include <vector>

#include "mindtorch/ingest/chrome/trace_part.h"
#include "mindtorch/trace/interning.h"

namespace mindtorch::ingest::chrome {

// Remembers names, rows and stacks between parts, so that many small parts cost no more than few large ones.
class PartMerger {
 public:
  explicit PartMerger(TracePart&& first);

  // Adds `next`, which follows in the text. Damage is not taken over.
  void append(TracePart&& next);
  // Bytes that the parts so far take, at most.
  std::uint64_t memory() const { return memory_of(whole_) + 2 * text_bytes_; }
  TracePart take() { return std::move(whole_); }

 private:
  std::vector<trace::NameId> map_names(const trace::Recording& next);
  std::vector<RowId> map_rows(const TracePart& next);
  void append_stacks(const TracePart& part, trace::EventIndex first);

  TracePart whole_;
  std::uint64_t text_bytes_ = 0;
  trace::NameInterner names_;
  trace::IdTable rows_;
  trace::StackInterner stacks_;
};

// The parts as one. There is at least one.
TracePart merge_parts(std::vector<TracePart> parts);

}  // namespace mindtorch::ingest::chrome

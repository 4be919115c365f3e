// The ops around the calls that were captured into graphs, kept for the recordings that replay the graphs later. Internal to record and
// sources.
#pragma once

#include <cstdint>
#include <vector>

#include "mindtorch/record/session_sources.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::record {

// A call that was captured in an earlier recording, among the correlations of a later one: a vendor's numbers may begin again when another
// tool shuts its library down. The lower 32 bits of them tell the calls of one recording apart.
constexpr std::uint64_t captured_call_key(std::uint32_t recording, std::uint64_t correlation) {
  return std::uint64_t{recording} << 32 | (correlation & 0xFFFF'FFFF);
}

// Appends the calls whose graphs the batches replayed, and the ops, scopes and modules around them with their shapes and stacks, on tracks
// of their own. They nest as they did when they were captured, but take only a few nanoseconds at the start of the recording, because none
// of their time belongs to it. Then remembers, for as long as the process lives, what is around the calls that the batches captured.
// Events must be in order. Any thread.
void add_captured_ops(const std::vector<SourceBatch>& batches, trace::Recording& recording);

}  // namespace mindtorch::record

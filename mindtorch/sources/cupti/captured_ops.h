// CapturedOps: the ops around the calls that were captured into CUDA graphs, kept for the recordings that replay the graphs later.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "mindtorch/trace/recording.h"

namespace mindtorch::sources::cupti {

// A call that was captured in an earlier recording, among the correlations of a later one: CUPTI's numbers may begin again when another
// tool shuts CUPTI down. The lower 32 bits of them tell the calls of one recording apart.
constexpr std::uint64_t captured_call_key(std::uint32_t recording, std::uint64_t correlation) {
  return std::uint64_t{recording} << 32 | (correlation & 0xFFFF'FFFF);
}

// Lives as long as the process, like the graphs. Any thread.
class CapturedOps {
 public:
  // Remembers the calls with these correlations and everything around them: ops, scopes and modules, with their shapes and stacks. The
  // correlations must be sorted. `number` is the one of the recording.
  void learn(const trace::Recording& recording, std::uint32_t number, std::span<const std::uint64_t> correlations);
  // Appends those of the remembered calls that have these keys, and the ops around them, on tracks of their own. They nest as they did when
  // they were captured, but take only a few nanoseconds at the start of the recording, because none of their time belongs to it. The keys
  // must be sorted.
  void add_to(trace::Recording& recording, std::span<const std::uint64_t> keys) const;

 private:
  // A program that captures without end must not fill the memory. The newest captures are then not remembered.
  static constexpr std::size_t kMostEvents = std::size_t{8} << 20;

  mutable std::mutex mutex_;
  std::vector<trace::Recording> captures_;  // one for each recording in which a graph was captured
  std::size_t events_ = 0;
};

}  // namespace mindtorch::sources::cupti

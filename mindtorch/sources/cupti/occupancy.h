// How much of a multiprocessor a kernel can keep busy, estimated from its launch.
#pragma once

namespace mindtorch::sources::cupti {

// What one multiprocessor has.
struct MultiprocessorLimits {
  int compute_major = 0, compute_minor = 0;
  int threads = 0;
  int warp_size = 32;
  int registers = 0;
  int shared_memory = 0;           // bytes
  int blocks = 0;                  // the most that can be resident
  int reserved_shared_memory = 0;  // bytes that the system takes for each block
};

// What one block of a kernel needs.
struct BlockNeeds {
  int threads = 0;
  int registers_per_thread = 0;
  int shared_memory = 0;  // bytes, static and dynamic
};

// How many blocks fit on a multiprocessor at once.
int resident_blocks(const MultiprocessorLimits& limits, const BlockNeeds& block);

// Threads that are resident on average, in percent of those that could be, if `blocks` blocks of the grid fall to each multiprocessor; -1
// if it cannot be known.
int estimated_occupancy_percent(const MultiprocessorLimits& limits, const BlockNeeds& block, double blocks);

}  // namespace mindtorch::sources::cupti

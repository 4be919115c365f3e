// The scarcest of warps, registers and shared memory decides how many blocks are resident.
#include "mindtorch/sources/cupti/occupancy.h"

#include <algorithm>
#include <limits>

namespace mindtorch::sources::cupti {
namespace {

// Registers are given to warps in units of 256, and each of the four parts of a multiprocessor has a quarter of them.
constexpr int kRegisterUnit = 256;
constexpr int kParts = 4;

int rounded_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

int shared_memory_unit(const MultiprocessorLimits& limits) { return limits.compute_major >= 8 ? 128 : 256; }

}  // namespace

int resident_blocks(const MultiprocessorLimits& limits, const BlockNeeds& block) {
  const int warps = (block.threads + limits.warp_size - 1) / limits.warp_size;
  int fit = limits.blocks > 0 ? limits.blocks : std::numeric_limits<int>::max();
  fit = std::min(fit, limits.threads / limits.warp_size / warps);
  if (block.registers_per_thread > 0) {
    const int of_warp = rounded_up(block.registers_per_thread * limits.warp_size, kRegisterUnit);
    fit = std::min(fit, limits.registers / kParts / of_warp * kParts / warps);
  }
  const int shared = rounded_up(block.shared_memory + limits.reserved_shared_memory, shared_memory_unit(limits));
  if (shared > 0) fit = std::min(fit, limits.shared_memory / shared);
  return fit;
}

int estimated_occupancy_percent(const MultiprocessorLimits& limits, const BlockNeeds& block, double blocks) {
  if (limits.threads <= 0 || limits.warp_size <= 0 || block.threads <= 0) return -1;
  const double resident = std::min(blocks, static_cast<double>(resident_blocks(limits, block)));
  return static_cast<int>(0.5 + 100 * resident * block.threads / limits.threads);
}

}  // namespace mindtorch::sources::cupti

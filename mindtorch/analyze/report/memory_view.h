// Memory view: bytes by category over time, thinned out for a picture, and who holds the memory at the peak.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

struct MemoryHolder {
  std::string name;  // the op that allocated, or "before the recording"
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  friend bool operator==(const MemoryHolder&, const MemoryHolder&) = default;
};

struct MemoryView {
  trace::Device device;
  std::vector<std::int64_t> times_ns;  // since the start of the recording
  std::vector<std::array<std::int64_t, trace::kMemoryCategories>> bytes;
  // Bytes that were allocated before the recording and that `bytes` does not hold, because only the totals of the reports tell them.
  std::int64_t before = 0;
  std::int64_t peak = 0;  // `before` included
  std::int64_t peak_ns = 0;
  std::vector<MemoryHolder> holders;  // of the blocks that are alive at the peak, most bytes first
  std::int64_t allocations = 0;       // while recording
  std::int64_t allocated = 0;         // bytes
};

// One for each device with memory reports. At most `points` points per device: of each part of the time, the one with most bytes.
MINDTORCH_EXPORT std::vector<MemoryView> memory_views(const Analysis& analysis, std::size_t points = 1200);

}  // namespace mindtorch::analyze

// Memory timeline: what lay in a device's memory at each moment, by category; the data of torch's memory timeline files.
//
// If tensors were identified and the host gave no categories itself, as in a program of PyTorch, categories are those of torch's memory
// profiler (tensor_categories.h), and each call that writes memory is a change. Otherwise a block has the category that the host gave
// (Recording::memory_tags; the first tag counts from the allocation on, a later one from its own time), or one that is guessed as
// memory_categories.h describes.
//
// The memory that existed before the recording consists of blocks reported at or before its start, blocks that are freed without having
// been allocated, tensors that are used although their allocation was not reported, and the rest of the device's baseline as one block of
// unknown category.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::analyze {

// Numbers are those of torch's raw files.
enum class MemoryAction : std::uint8_t { kPreexisting = 1, kCreate = 2, kIncrementVersion = 3, kDestroy = 4 };

struct MemoryEntry {
  std::int64_t unix_ns = -1;  // -1: before the recording
  MemoryAction action = MemoryAction::kCreate;
  std::int64_t bytes = 0;  // negative: leaves the category
  trace::MemoryCategory category = trace::MemoryCategory::kUnknown;
  friend bool operator==(const MemoryEntry&, const MemoryEntry&) = default;
};

struct MemoryTimeline {
  trace::Device device;
  // torch's raw list, in order of time. A change of category is two entries of kIncrementVersion.
  std::vector<MemoryEntry> entries;
  // torch's times (Unix microseconds) and for each a row of a leading 0 and the bytes of the eight categories at the end of the
  // microsecond. If more was held in between than at its beginning and at its end, a row of the same time comes before and shows the most:
  // memory that is reused at once would be in no row otherwise, and no row would show the peak.
  using Row = std::array<std::int64_t, 1 + trace::kMemoryCategories>;
  std::vector<std::int64_t> times_us;
  std::vector<Row> sizes;
  // Most bytes each category held, and all of them together; not at the same moment.
  std::array<std::int64_t, trace::kMemoryCategories> category_peaks{};
  std::int64_t peak = 0;
  std::int64_t peak_unix_ns = -1;
};

// Empty if nothing was reported for the device. O(reports * log).
MINDTORCH_EXPORT MemoryTimeline memory_timeline(const Analysis& analysis, trace::Device device);

// Devices with memory reports or a baseline, CPU first.
MINDTORCH_EXPORT std::vector<trace::Device> memory_devices(const trace::Recording& recording);

}  // namespace mindtorch::analyze

// How much memory tensors use on each device, with torch's functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/device.h"

namespace mindtorch {

// The bytes that tensors hold now, and the maximum since the start or the last reset. The CPU counts the requested bytes; other devices
// count multiples of 512.
MINDTORCH_EXPORT std::int64_t memory_allocated(Device device);
MINDTORCH_EXPORT std::int64_t max_memory_allocated(Device device);
// The bytes that were taken from the device, whether they are in use or kept for reuse.
MINDTORCH_EXPORT std::int64_t memory_reserved(Device device);
MINDTORCH_EXPORT std::int64_t max_memory_reserved(Device device);
MINDTORCH_EXPORT void reset_peak_memory_stats(Device device);
MINDTORCH_EXPORT void reset_accumulated_memory_stats(Device device);
// Returns unused cached memory to the device.
MINDTORCH_EXPORT void empty_cache(Device device);
// Free and total bytes of the device.
MINDTORCH_EXPORT std::pair<std::int64_t, std::int64_t> mem_get_info(Device device);
// torch's keys: "allocated_bytes.all.current", ...
MINDTORCH_EXPORT std::map<std::string, std::int64_t> memory_stats(Device device);

}  // namespace mindtorch

// How much memory tensors use, on each device: torch's questions and answers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "mindtorch/runtime/device.h"

namespace mindtorch {

// Bytes held by tensors now, and the most since the start or the last reset. On the CPU these are the bytes tensors asked for; on devices
// they are rounded up to 512.
std::int64_t memory_allocated(Device device);
std::int64_t max_memory_allocated(Device device);
// Bytes taken from the device, used or kept for reuse.
std::int64_t memory_reserved(Device device);
std::int64_t max_memory_reserved(Device device);
void reset_peak_memory_stats(Device device);
void reset_accumulated_memory_stats(Device device);
// Gives unused cached memory back to the device.
void empty_cache(Device device);
// Free and total bytes of the device.
std::pair<std::int64_t, std::int64_t> mem_get_info(Device device);
// torch's keys: "allocated_bytes.all.current", ...
std::map<std::string, std::int64_t> memory_stats(Device device);

}  // namespace mindtorch

// mindtorch::npu: what torch.npu offers besides tensors. Functions throw if there is no NPU, with what to install or set; the first two do
// not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/kernels/npu/stream.h"

namespace mindtorch::npu {

bool is_available();
int device_count();
// ok, or why not.
Status availability();

// Chooses who provides NPUs, before the first use: "reference" is a device in software (as MINDTORCH_NPU=reference does). Throws
// InvalidArgument for a name it does not know, Error if another provider is in use.
void use_provider(std::string_view name);
std::string provider_name();  // "" if there is none

// Waits for all work given to the device. Throws if any of it failed.
void synchronize(Device device = kNPU);

// Bytes. Allocated: by tensors; reserved: taken from the device, the cache included.
std::int64_t memory_allocated(Device device = kNPU);
std::int64_t max_memory_allocated(Device device = kNPU);
std::int64_t memory_reserved(Device device = kNPU);
std::int64_t max_memory_reserved(Device device = kNPU);
void reset_peak_memory_stats(Device device = kNPU);
void empty_cache();
std::pair<std::int64_t, std::int64_t> mem_get_info(Device device = kNPU);  // free, total
std::map<std::string, std::int64_t> memory_stats(Device device = kNPU);

}  // namespace mindtorch::npu

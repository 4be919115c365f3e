// mindtorch::npu: the functions of torch.npu. All except is_available(), device_count() and availability() throw if there is no NPU; the
// error says what to install or set.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/base/export.h"
#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/kernels/npu/stream.h"

namespace mindtorch::npu {

MINDTORCH_EXPORT bool is_available();
MINDTORCH_EXPORT int device_count();
// Ok, or the reason why there is no NPU.
MINDTORCH_EXPORT Status availability();

// Chooses the provider of NPUs before the first use. "reference" is a device in software, as with MINDTORCH_NPU=reference. Throws
// InvalidArgument for an unknown name, and Error if another provider is in use.
MINDTORCH_EXPORT void use_provider(std::string_view name);
MINDTORCH_EXPORT std::string provider_name();  // "" if there is no provider

// Waits for all queued work of the device. Throws if any of it failed.
MINDTORCH_EXPORT void synchronize(Device device = kNPU);

// All in bytes. Allocated memory is held by tensors; reserved memory was taken from the device and includes the cache.
MINDTORCH_EXPORT std::int64_t memory_allocated(Device device = kNPU);
MINDTORCH_EXPORT std::int64_t max_memory_allocated(Device device = kNPU);
MINDTORCH_EXPORT std::int64_t memory_reserved(Device device = kNPU);
MINDTORCH_EXPORT std::int64_t max_memory_reserved(Device device = kNPU);
MINDTORCH_EXPORT void reset_peak_memory_stats(Device device = kNPU);
MINDTORCH_EXPORT void empty_cache();
MINDTORCH_EXPORT std::pair<std::int64_t, std::int64_t> mem_get_info(Device device = kNPU);  // free, total
MINDTORCH_EXPORT std::map<std::string, std::int64_t> memory_stats(Device device = kNPU);

}  // namespace mindtorch::npu

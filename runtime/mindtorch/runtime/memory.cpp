// How much memory tensors use.
#include "mindtorch/runtime/memory.h"

#include "mindtorch/runtime/caching_allocator.h"
#include "mindtorch/runtime/initialize.h"

namespace mindtorch {

namespace {

CachingAllocator& allocator_of(Device device) {
  initialize_runtime();
  return device_backend(device).allocator(device);
}

}  // namespace

std::int64_t memory_allocated(Device device) { return allocator_of(device).memory_allocated(); }
std::int64_t max_memory_allocated(Device device) { return allocator_of(device).max_memory_allocated(); }
std::int64_t memory_reserved(Device device) { return allocator_of(device).memory_reserved(); }
std::int64_t max_memory_reserved(Device device) { return allocator_of(device).max_memory_reserved(); }
void reset_peak_memory_stats(Device device) { allocator_of(device).reset_peak_memory_stats(); }
void reset_accumulated_memory_stats(Device device) { allocator_of(device).reset_accumulated_memory_stats(); }
void empty_cache(Device device) { allocator_of(device).empty_cache(); }
std::map<std::string, std::int64_t> memory_stats(Device device) { return allocator_of(device).memory_stats(); }

std::pair<std::int64_t, std::int64_t> mem_get_info(Device device) {
  const RawMemory::Amount amount = allocator_of(device).mem_get_info();
  return {static_cast<std::int64_t>(amount.free), static_cast<std::int64_t>(amount.total)};
}

}  // namespace mindtorch

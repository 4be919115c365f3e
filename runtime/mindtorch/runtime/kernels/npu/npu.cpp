// mindtorch::npu.
#include "mindtorch/runtime/kernels/npu/npu.h"

#include <algorithm>

#include "mindtorch/runtime/kernels/npu/npu_backend.h"

namespace mindtorch::npu {

bool is_available() { return availability().is_ok(); }

int device_count() {
  Provider* provider = find_provider();
  return provider != nullptr ? provider->device_count() : 0;
}

Status availability() {
  Provider* provider = find_provider();
  return provider != nullptr ? provider->availability() : Status::unavailable(why_no_provider());
}

void use_provider(std::string_view name) {
  const auto& all = providers();
  const auto wanted = std::find_if(all.begin(), all.end(), [&](const Provider* provider) { return provider->name() == name; });
  if (wanted == all.end()) {
    std::string known;
    for (const Provider* provider : all) known += fmt::format("{}'{}'", known.empty() ? "" : ", ", provider->name());
    throw_error<InvalidArgument>("npu.use_provider", "unknown provider '{}'; there are: {}", name, known);
  }
  (*wanted)->ask_for();
  Provider* used = find_provider();
  if (used != *wanted) {
    throw_error("npu.use_provider", "'{}' cannot be used: {}", name,
                used != nullptr ? fmt::format("'{}' is in use", used->name()) : (*wanted)->availability().reason());
  }
}

std::string provider_name() {
  const Provider* provider = find_provider();
  return provider != nullptr ? std::string(provider->name()) : "";
}

void synchronize(Device device) { provider_of(device).synchronize_device(device.index); }

std::int64_t memory_allocated(Device device) { return allocator_of(device).memory_allocated(); }
std::int64_t max_memory_allocated(Device device) { return allocator_of(device).max_memory_allocated(); }
std::int64_t memory_reserved(Device device) { return allocator_of(device).memory_reserved(); }
std::int64_t max_memory_reserved(Device device) { return allocator_of(device).max_memory_reserved(); }
void reset_peak_memory_stats(Device device) { allocator_of(device).reset_peak_memory_stats(); }

void empty_cache() {
  for (int i = 0; i < device_count(); ++i) allocator_of({kNPU, static_cast<std::uint8_t>(i)}).empty_cache();
}

std::pair<std::int64_t, std::int64_t> mem_get_info(Device device) {
  const RawMemory::Amount amount = allocator_of(device).mem_get_info();
  return {static_cast<std::int64_t>(amount.free), static_cast<std::int64_t>(amount.total)};
}

std::map<std::string, std::int64_t> memory_stats(Device device) { return allocator_of(device).memory_stats(); }

}  // namespace mindtorch::npu

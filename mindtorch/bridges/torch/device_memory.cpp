// torch's allocators report to whatever the thread has as the state of its profiler. Ours is one that is switched off for everything else,
// so that torch itself still says that no profiler is running.
#include "mindtorch/bridges/torch/device_memory.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <algorithm>
#include <array>
#include <memory>

#include "mindtorch/record/hooks.h"

namespace mindtorch::torch_bridge {
namespace {

namespace impl = torch::profiler::impl;

class DeviceMemoryReports final : public impl::ProfilerStateBase {
 public:
  DeviceMemoryReports() : ProfilerStateBase(impl::ProfilerConfig(impl::ProfilerState::Disabled)) {}

  bool memoryProfilingEnabled() const override { return record::wants(record::kMemory); }
  impl::ActiveProfilerType profilerType() override { return impl::ActiveProfilerType::NONE; }

  void reportMemoryUsage(void* address, std::int64_t bytes, std::size_t allocated, std::size_t reserved, c10::Device device) override {
    // The CPU's allocator is watched as a whole, on all threads.
    if (device.is_cpu()) return;
    record::record_memory(
        {static_cast<trace::DeviceType>(device.type()), static_cast<std::uint8_t>(device.has_index() ? device.index() : 0)}, address, bytes,
        static_cast<std::int64_t>(allocated), static_cast<std::int64_t>(reserved));
  }
  void reportOutOfMemory(std::int64_t, std::size_t, std::size_t, c10::Device) override {
    record::record_instant(record::intern_cached("[OutOfMemory]"));
  }
};

const std::shared_ptr<DeviceMemoryReports>& reports() {
  // Never destroyed: threads may hold it when static destructors run.
  static auto& it = *new std::shared_ptr<DeviceMemoryReports>(std::make_shared<DeviceMemoryReports>());
  return it;
}

// PROFILER_STATE is an enumerator in some releases of PyTorch and an object in others, so a constexpr constant cannot hold it.
c10::DebugInfoKind slot() { return c10::DebugInfoKind::PROFILER_STATE; }

// torch takes a thread whose slot is filled for one that is profiled already, so the slot stays empty where no device can report anything.
bool has_devices() {
  return std::ranges::any_of(std::array{c10::DeviceType::CUDA, c10::DeviceType::PrivateUse1}, [](c10::DeviceType type) {
    return c10::impl::hasDeviceGuardImpl(type) && c10::impl::getDeviceGuardImpl(type)->deviceCount() > 0;
  });
}

}  // namespace

void watch_device_memory() noexcept try {
  if (has_devices() && c10::ThreadLocalDebugInfo::get(slot()) == nullptr) c10::ThreadLocalDebugInfo::_push(slot(), reports());
} catch (...) {
  // Out of memory: the thread's device memory is not reported.
}

void unwatch_device_memory() noexcept try {
  if (c10::ThreadLocalDebugInfo::get(slot()) == reports().get()) c10::ThreadLocalDebugInfo::_pop(slot());
} catch (...) {
  // Something else lies on top: the reports stay, and say that they are not wanted.
}

}  // namespace mindtorch::torch_bridge

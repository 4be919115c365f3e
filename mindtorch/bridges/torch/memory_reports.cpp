// torch reports memory to whatever the thread has as the state of its profiler. Ours is one that is switched off for everything else, so
// that torch itself still says that no profiler is running.
#include "mindtorch/bridges/torch/memory_reports.h"

#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <memory>

#include "mindtorch/bridges/torch/cpu_memory.h"
#include "mindtorch/record/hooks.h"

namespace mindtorch::torch_bridge {
namespace {

namespace impl = torch::profiler::impl;

class MemoryReports final : public impl::ProfilerStateBase {
 public:
  MemoryReports() : ProfilerStateBase(impl::ProfilerConfig(impl::ProfilerState::Disabled)) {}

  // Asked by torch's CPU allocator, which then keeps the size of the block in a table under a lock.
  bool memoryProfilingEnabled() const override { return record::wants(record::kMemory) && !is_watched_allocator_at_work(); }
  impl::ActiveProfilerType profilerType() override { return impl::ActiveProfilerType::NONE; }

  void reportMemoryUsage(void* address, std::int64_t bytes, std::size_t allocated, std::size_t reserved, c10::Device device) override {
    if (device.is_cpu()) return report_cpu_memory(address, bytes, allocated);
    record::record_memory(
        {static_cast<trace::DeviceType>(device.type()), static_cast<std::uint8_t>(device.has_index() ? device.index() : 0)}, address, bytes,
        static_cast<std::int64_t>(allocated), static_cast<std::int64_t>(reserved));
  }
  void reportOutOfMemory(std::int64_t, std::size_t, std::size_t, c10::Device) override {
    record::record_instant(record::intern_cached("[OutOfMemory]"));
  }
};

const std::shared_ptr<MemoryReports>& reports() {
  // Never destroyed: threads may hold it when static destructors run.
  static auto& it = *new std::shared_ptr<MemoryReports>(std::make_shared<MemoryReports>());
  return it;
}

// PROFILER_STATE is an enumerator in some releases of PyTorch and an object in others, so a constexpr constant cannot hold it.
c10::DebugInfoKind slot() { return c10::DebugInfoKind::PROFILER_STATE; }

}  // namespace

void watch_memory_reports() noexcept try {
  if (c10::ThreadLocalDebugInfo::get(slot()) == nullptr) c10::ThreadLocalDebugInfo::_push(slot(), reports());
} catch (...) {
  // Out of memory: nothing is reported on this thread.
}

void unwatch_memory_reports() noexcept try {
  if (c10::ThreadLocalDebugInfo::get(slot()) == reports().get()) c10::ThreadLocalDebugInfo::_pop(slot());
} catch (...) {
  // Something else lies on top: the reports stay, and say that they are not wanted.
}

}  // namespace mindtorch::torch_bridge

// The CPU as a device.
#include "mindtorch/runtime/cpu_backend.h"

#include <sys/sysinfo.h>

#include <cstdlib>
#include <cstring>

namespace mindtorch {

namespace {

class HostMemory : public RawMemory {
 public:
  // Page aligned, so that a segment of 2 MiB can be one huge page.
  void* reserve(std::size_t bytes) override { return std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096); }
  void release(void* data, std::size_t) override { std::free(data); }
  Amount amount() const override {
    struct sysinfo info {};
    if (::sysinfo(&info) != 0) return {};
    return {info.freeram * info.mem_unit, info.totalram * info.mem_unit};
  }
};

class HostAddresses final : public AddressMap {
  void* translate(const void* address) const override { return const_cast<void*>(address); }
};

class CpuBackend : public DeviceBackend {
 public:
  DeviceType type() const override { return DeviceType::kCpu; }
  Status availability() const override { return Status::ok(); }
  int device_count() const override { return 1; }
  CachingAllocator& allocator(Device) override { return cpu_allocator(); }
  void launch(Device, const char*, Work work) override { work(HostAddresses()); }
  void copy(Device, void* to, const void* from, std::size_t bytes, CopyKind, bool) override {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }
  void synchronize(Device) override {}
};

}  // namespace

CachingAllocator& cpu_allocator() {
  // Never destroyed: tensors in static variables give their memory back after main() has returned.
  static auto* memory = new HostMemory();
  static auto* allocator = new CachingAllocator(Device(), *memory, CachingAllocator::Count::kRequested);
  return *allocator;
}

void register_cpu_backend() {
  static auto* backend = new CpuBackend();
  register_device_backend(*backend);
}

}  // namespace mindtorch

// The NPU as a device of the runtime.
#include "mindtorch/runtime/kernels/npu/npu_backend.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "mindtorch/base/thread_owned.h"
#include "mindtorch/runtime/initialize.h"

namespace mindtorch::npu {
namespace {

constexpr std::size_t kMaxDevices = 64;

// The current streams of one thread, by device; null: the default stream.
struct CurrentStreams {
  std::array<StreamHandle, kMaxDevices> streams{};
};

StreamId to_id(StreamHandle stream) { return reinterpret_cast<StreamId>(stream); }
StreamHandle to_handle(StreamId stream) { return reinterpret_cast<StreamHandle>(stream); }

class NpuMemory final : public RawMemory {
 public:
  NpuMemory(Provider& provider, Device device) : provider_(provider), device_(device) {}
  void* reserve(std::size_t bytes) override { return provider_.allocate(device_.index, bytes); }
  void release(void* data, std::size_t) override { provider_.release(data); }
  Amount amount() const override { return provider_.memory(device_.index); }
  StreamId current_stream() const override { return to_id(current_stream_handle(device_)); }
  void wait_for_stream(StreamId stream) override {
    if (stream == kEveryStream) return join_streams(device_);
    make_wait(current_stream_handle(device_), to_handle(stream));
  }

 private:
  Provider& provider_;
  const Device device_;
};

// The streams of one device. They are created when they are first needed and never destroyed.
class StreamPool {
 public:
  StreamHandle next(Provider& provider, Device device) {
    std::lock_guard lock(mutex_);
    StreamHandle& stream = streams_[next_++ % streams_.size()];
    if (stream == nullptr) stream = provider.create_stream(device.index);
    return stream;
  }
  std::vector<StreamHandle> made() {
    std::lock_guard lock(mutex_);
    return {streams_.begin(), std::find(streams_.begin(), streams_.end(), nullptr)};
  }

 private:
  std::mutex mutex_;
  std::array<StreamHandle, 32> streams_{};
  std::size_t next_ = 0;
};

StreamPool& pool_of(Device device) {
  static auto& pools = *new std::array<StreamPool, kMaxDevices>();
  return pools.at(device.index);
}

// The memory of one device. It is never destroyed, because tensors in static variables may outlive everything else.
struct DeviceMemory {
  DeviceMemory(Provider& provider, Device device) : raw(provider, device), allocator(device, raw) {}
  NpuMemory raw;
  CachingAllocator allocator;
};

class NpuBackend final : public DeviceBackend {
 public:
  DeviceType type() const override { return DeviceType::kNpu; }
  Status availability() const override {
    Provider* provider = find_provider();
    return provider != nullptr ? provider->availability() : Status::unavailable(why_no_provider());
  }
  int device_count() const override {
    Provider* provider = find_provider();
    return provider != nullptr ? provider->device_count() : 0;
  }
  CachingAllocator& allocator(Device device) override { return allocator_of(device); }
  void launch(Device device, const char* kernel, Work work) override {
    find_provider()->launch(current_stream_handle(device), kernel, std::move(work));
  }
  void copy(Device device, void* to, const void* from, std::size_t bytes, CopyKind kind, bool non_blocking) override;
  void zero(Device device, void* to, std::size_t bytes) override { find_provider()->zero(current_stream_handle(device), to, bytes); }
  void synchronize(Device device) override { find_provider()->synchronize_device(device.index); }
  StreamId current_stream(Device device) override { return to_id(current_stream_handle(device)); }
  void set_current_stream(Device device, StreamId stream) override { set_current_stream_handle(device, to_handle(stream)); }
  void join_streams(Device device) override { npu::join_streams(device); }
};

void NpuBackend::copy(Device device, void* to, const void* from, std::size_t bytes, CopyKind kind, bool non_blocking) {
  if (bytes == 0) return;
  Provider& provider = *find_provider();
  const StreamHandle stream = current_stream_handle(device);
  if (kind != CopyKind::kHostToDevice || !non_blocking) {
    provider.copy(stream, to, from, bytes, kind);
    if (kind != CopyKind::kDeviceToDevice) provider.synchronize(stream);
    return;
  }
  // The caller may change its memory at once, so the device reads a copy, which is freed after the stream has read it.
  std::shared_ptr<std::byte[]> staged(new std::byte[bytes]);
  std::memcpy(staged.get(), from, bytes);
  provider.copy(stream, to, staged.get(), bytes, kind);
  provider.call_host(stream, [staged] {});
}

}  // namespace

void register_npu_backend() {
  static auto& backend = *new NpuBackend();
  register_device_backend(backend);
}

Provider& provider_of(Device device) {
  initialize_runtime();
  device_backend(device);  // throws if there is no NPU or no such device
  return *find_provider();
}

CachingAllocator& allocator_of(Device device) {
  static auto& mutex = *new std::mutex();
  static auto& memories = *new std::array<std::unique_ptr<DeviceMemory>, kMaxDevices>();
  static auto& made = *new std::array<std::atomic<CachingAllocator*>, kMaxDevices>();
  std::atomic<CachingAllocator*>& entry = made.at(device.index);
  if (CachingAllocator* allocator = entry.load(std::memory_order_acquire)) [[likely]]
    return *allocator;
  Provider& provider = provider_of(device);
  std::lock_guard lock(mutex);
  auto& memory = memories.at(device.index);
  if (!memory) memory = std::make_unique<DeviceMemory>(provider, device);
  entry.store(&memory->allocator, std::memory_order_release);
  return memory->allocator;
}

StreamHandle next_stream_of_pool(Device device) { return pool_of(device).next(provider_of(device), device); }

StreamHandle current_stream_handle(Device device) {
  const CurrentStreams* const chosen = ThreadOwned<CurrentStreams>::get();
  const StreamHandle stream = chosen != nullptr ? chosen->streams[device.index] : nullptr;
  return stream != nullptr ? stream : find_provider()->default_stream(device.index);
}

void set_current_stream_handle(Device device, StreamHandle stream) {
  CurrentStreams* const chosen = ThreadOwned<CurrentStreams>::get();
  if (chosen == nullptr) throw std::bad_alloc();
  chosen->streams.at(device.index) = stream;
}

void make_wait(StreamHandle stream, StreamHandle other) {
  Provider& provider = *find_provider();
  const std::shared_ptr<EventObject> event(provider.create_event(), [&](EventHandle handle) { provider.destroy(handle); });
  provider.record(event.get(), other);
  provider.wait(stream, event.get());
}

void join_streams(Device device) {
  std::vector<StreamHandle> others = pool_of(device).made();
  if (others.empty()) return;
  others.push_back(find_provider()->default_stream(device.index));
  const StreamHandle current = current_stream_handle(device);
  for (const StreamHandle other : others)
    if (other != current) make_wait(current, other);
}

}  // namespace mindtorch::npu

// The state of the driver: the devices, their streams, and the collector that they report to.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "mindtorch/reference_device/collector.h"
#include "mindtorch/reference_device/device_clock.h"
#include "mindtorch/reference_device/device_memory.h"
#include "mindtorch/reference_device/stream.h"
#include "mindtorch/reference_device/truth.h"

namespace mindtorch::reference_device {

class Driver;

// One moment, on the clock that drives the devices and on the clock of the device.
struct Moment {
  std::uint64_t host_ns = 0;
  std::uint64_t ticks = 0;
};

class Device {
 public:
  Device(Driver& driver, int index, const Config& config, std::uint64_t origin_ns);

  int index() const noexcept { return index_; }
  Driver& driver() const noexcept { return driver_; }
  DeviceMemory& memory() noexcept { return memory_; }
  const DeviceClock& clock() const noexcept { return clock_; }
  Moment now() const noexcept;

  Stream* create_stream();
  Result destroy_stream(Stream* stream);
  Stream* default_stream() noexcept { return default_stream_; }
  // Waits for work that was queued before on all streams. Returns the first error.
  Result synchronize();
  void abandon_streams();
  void remove_streams();

  // Called when work has ended: passes it to the collector, and keeps its true times if the configuration says so.
  void report(Task& task, int stream, Moment start, Moment end);

 private:
  Driver& driver_;
  const int index_;
  DeviceMemory memory_;
  DeviceClock clock_;
  std::mutex mutex_;
  int last_stream_id_ = 0;
  std::vector<std::shared_ptr<Stream>> streams_;  // shared with threads that wait for them
  Stream* const default_stream_;
};

class Driver {
 public:
  explicit Driver(const Config& config);
  ~Driver();

  int device_count() const noexcept { return static_cast<int>(devices_.size()); }
  // Null if there is no such device.
  Device* device(int index) noexcept;
  // The device whose window `address` lies in, or null.
  Device* owner_of(const void* address) noexcept;
  Collector& collector() noexcept { return collector_; }
  std::uint64_t host_now() const noexcept { return host_now_(); }
  std::uint64_t next_correlation() noexcept { return last_correlation_.fetch_add(1, std::memory_order_relaxed) + 1; }

  bool keeps_truth() const noexcept { return keeps_truth_; }
  void keep(Truth truth);
  std::vector<Truth> take_truth();
  // Called when the process ends: no further kernel is started.
  void abandon();

 private:
  std::uint64_t (*const host_now_)();
  const bool keeps_truth_;
  std::atomic<std::uint64_t> last_correlation_{0};
  std::mutex truth_mutex_;
  std::vector<Truth> truth_;
  Collector collector_;
  std::vector<std::unique_ptr<Device>> devices_;
};

// The driver while powered on, else null.
Driver* driver() noexcept;

}  // namespace mindtorch::reference_device

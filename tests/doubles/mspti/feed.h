// What the reference device reports, written as MSPTI writes it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "mindtorch/reference_device/activity_table.h"
#include "mindtorch/sources/mspti/mspti_abi.h"
#include "tests/doubles/mspti/mspti_double.h"

namespace mspti_double {

namespace abi = mindtorch::sources::mspti;
namespace device = mindtorch::reference_device;

// Nanoseconds since 1970, unless a test sets it wrong.
class HostClock {
 public:
  HostClock() { set(0, 0); }
  void set(std::int64_t offset_ns, double drift_ppm);
  std::uint64_t now() const;

 private:
  mutable std::mutex mutex_;
  std::int64_t base_ = 0;
  std::int64_t offset_ = 0;
  double drift_ = 0;
};

class Feed {
 public:
  HostClock clock;

  // Of the device that is watched; null if there is none.
  const device::ActivityApi* api();
  void watch(const device::ActivityApi* api);

  void connect();
  void disconnect();
  // Asks the device for what the client's kinds need.
  void collect();
  // Writes the records of all calls that have ended, and of the kernels that the driver has handed over: all of them if `drained`, else
  // those that have waited long enough.
  void pull(bool drained);

  void synchronize_clocks();
  void set_faults(const MsptiDoubleFaults& faults);
  void number_devices_from(std::uint32_t first);
  void replay_kernels(std::uint32_t times);
  std::uint64_t lost() const;
  // A new id, which becomes the current one of this thread.
  std::uint64_t take_id();
  // The record of a call of this thread.
  void write_call(const char* name, std::uint64_t start, std::uint64_t end, std::uint64_t id);
  std::uint32_t device_number(std::uint32_t device) const;
  void reset();

 private:
  struct Pair {
    std::uint64_t ticks = 0;
    std::uint64_t host_ns = 0;
    double ticks_per_ns = 1;
  };
  struct WaitingKernel {
    device::KernelActivity kernel;
    std::uint32_t flushes = 0;
  };
  static void request(void* self, std::uint8_t** buffer, std::size_t* bytes);
  static void complete(void* self, std::uint8_t* buffer, std::size_t bytes, std::size_t valid);
  static std::uint64_t host_now(void* self);

  void keep(const device::Activity& activity);
  void write_calls(std::uint64_t until);
  void write_copies();
  void write_kernels(bool drained);
  void write(const device::KernelActivity& kernel);
  std::uint64_t to_host_time(std::uint32_t device, std::uint64_t ticks) const;

  const device::ActivityApi* api_ = nullptr;
  bool is_connected_ = false;
  std::mutex pulling_;        // one thread pulls at a time
  mutable std::mutex mutex_;  // guards what follows
  MsptiDoubleFaults faults_;
  std::vector<Pair> pairs_;  // by device
  std::vector<device::ApiActivity> calls_;
  std::vector<device::MemcpyActivity> copies_;
  std::vector<device::MemsetActivity> sets_;
  std::vector<WaitingKernel> kernels_;
  std::vector<device::KernelActivity> replayable_;
  std::map<std::uint64_t, device::ApiActivity> call_of_;  // of copies and memsets, by correlation
  std::map<std::uint32_t, std::uint64_t> current_id_of_thread_;
  std::uint32_t first_device_number_ = 0;
  std::uint64_t last_id_ = std::uint64_t{1} << 40;  // of calls that the device does not know
  std::uint64_t seen_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace mspti_double

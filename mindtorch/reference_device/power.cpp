// Powers the devices on and off.
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "mindtorch/reference_device/driver.h"

namespace mindtorch::reference_device {
namespace {

std::atomic<Driver*> the_driver{nullptr};
std::mutex power_mutex;
bool environment_was_read = false;
std::atomic<Driver*> lost_driver{nullptr};  // in a fork: the parent's

// The process may end while work is queued. The driver is then not destroyed, because other code may still hold its handles.
void at_exit() {
  if (Driver* last = the_driver.load()) last->abandon();
}

// A forked child has the driver's memory but not its workers. Waiting for them, even at exit, would never end.
void after_fork_in_child() {
  if (Driver* parents = the_driver.exchange(nullptr)) lost_driver.store(parents);
}

void register_process_hooks() {
  static std::once_flag once;
  std::call_once(once, [] {
    std::atexit(&at_exit);
    pthread_atfork(nullptr, nullptr, &after_fork_in_child);
  });
}

bool is_sane(const Config& config) {
  return config.devices >= 1 && config.devices <= 64 && config.memory_bytes >= DeviceMemory::kAlignment &&
         config.delivery.batch_records >= 1 && DeviceClock::is_sane(config.clock, config.devices);
}

Result power_on_locked(const Config& config) {
  if (the_driver.load() != nullptr) return Result::kNotPermitted;
  if (lost_driver.load() != nullptr) return Result::kForked;
  if (!is_sane(config)) return Result::kInvalidArgument;
  register_process_hooks();
  try {
    the_driver.store(new Driver(config));
  } catch (const std::exception&) {  // no address space or no thread is available
    return Result::kOutOfMemory;
  }
  return Result::kSuccess;
}

}  // namespace

Driver* driver() noexcept { return the_driver.load(std::memory_order_acquire); }

Result power_on(const Config& config) noexcept {
  std::lock_guard lock(power_mutex);
  return power_on_locked(config);
}

Result power_off() noexcept {
  if (on_library_thread) return Result::kNotPermitted;
  std::lock_guard lock(power_mutex);
  Driver* last = the_driver.load();
  if (last == nullptr) return Result::kPoweredOff;
  delete last;  // running kernels can use the driver until they end
  the_driver.store(nullptr);
  return Result::kSuccess;
}

Result power_state() noexcept {
  if (device_count() > 0) return Result::kSuccess;
  return lost_driver.load() != nullptr ? Result::kForked : Result::kPoweredOff;
}

int device_count() noexcept {
  if (const Driver* on = driver()) return on->device_count();
  std::lock_guard lock(power_mutex);
  if (!std::exchange(environment_was_read, true)) {
    const char* wanted = std::getenv("MINDTORCH_NPU");
    // "mspti" beside it says who records the device.
    if (wanted != nullptr && std::string_view(wanted).starts_with("reference")) static_cast<void>(power_on_locked({}));
  }
  const Driver* on = driver();
  return on != nullptr ? on->device_count() : 0;
}

std::vector<Truth> take_truth() {
  Driver* on = driver();
  return on != nullptr ? on->take_truth() : std::vector<Truth>();
}

}  // namespace mindtorch::reference_device

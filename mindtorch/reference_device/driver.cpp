// The driver and its devices.
#include "mindtorch/reference_device/driver.h"

#include <algorithm>
#include <utility>

namespace mindtorch::reference_device {

Device::Device(Driver& driver, int index, const Config& config, std::uint64_t origin_ns)
    : driver_(driver),
      index_(index),
      memory_(index, config.memory_bytes),
      clock_(config.clock, index, origin_ns),
      default_stream_(create_stream()) {}

Moment Device::now() const noexcept {
  const std::uint64_t host_ns = driver_.host_now();
  return {host_ns, clock_.at(host_ns)};
}

Stream* Device::create_stream() {
  std::lock_guard lock(mutex_);
  streams_.push_back(std::make_shared<Stream>(*this, ++last_stream_id_));
  return streams_.back().get();
}

Result Device::destroy_stream(Stream* stream) {
  std::shared_ptr<Stream> last_reference;
  std::lock_guard lock(mutex_);
  const auto at = std::find_if(streams_.begin(), streams_.end(), [&](const auto& owned) { return owned.get() == stream; });
  if (at == streams_.end() || stream == default_stream_) return Result::kInvalidArgument;
  last_reference = std::move(*at);
  streams_.erase(at);
  return Result::kSuccess;
}

Result Device::synchronize() {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    std::lock_guard lock(mutex_);
    streams = streams_;
  }
  Result first = Result::kSuccess;
  for (const auto& stream : streams) {
    const Result result = stream->synchronize();
    if (first == Result::kSuccess) first = result;
  }
  return first;
}

void Device::abandon_streams() {
  std::lock_guard lock(mutex_);
  for (const auto& stream : streams_) stream->abandon();
}

void Device::remove_streams() {
  std::lock_guard lock(mutex_);
  streams_.clear();
}

void Device::report(Task& task, int stream, Moment start, Moment end) {
  if (driver_.keeps_truth()) {
    driver_.keep({task.kind, index_, stream, task.correlation, start.host_ns, end.host_ns, task.launched_by, task.name});
  }
  if (!task.record) return;
  std::visit(
      [&](auto& activity) {
        activity.start = start.ticks;
        activity.end = end.ticks;
      },
      *task.record);
  driver_.collector().add(std::move(*task.record));
}

Driver::Driver(const Config& config)
    : host_now_(config.host_now != nullptr ? config.host_now : &monotonic_ns),
      keeps_truth_(config.keep_truth),
      collector_(config.delivery) {
  const std::uint64_t origin = host_now_();
  for (int i = 0; i < config.devices; ++i) devices_.push_back(std::make_unique<Device>(*this, i, config, origin));
}

Driver::~Driver() {
  // Streams may wait for streams of other devices, so all of them finish before the first is destroyed.
  for (const auto& device : devices_) static_cast<void>(device->synchronize());
  for (const auto& device : devices_) device->remove_streams();
  static_cast<void>(collector_.unsubscribe());
}

Device* Driver::device(int index) noexcept {
  return index >= 0 && index < device_count() ? devices_[static_cast<std::size_t>(index)].get() : nullptr;
}

Device* Driver::owner_of(const void* address) noexcept {
  for (const auto& device : devices_) {
    if (device->memory().owns(address)) return device.get();
  }
  return nullptr;
}

void Driver::keep(Truth truth) {
  std::lock_guard lock(truth_mutex_);
  truth_.push_back(std::move(truth));
}

std::vector<Truth> Driver::take_truth() {
  std::lock_guard lock(truth_mutex_);
  return std::exchange(truth_, {});
}

void Driver::abandon() {
  for (const auto& device : devices_) device->abandon_streams();
  for (const auto& device : devices_) static_cast<void>(device->synchronize());
}

}  // namespace mindtorch::reference_device

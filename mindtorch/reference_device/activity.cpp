// The calls of activity.h. They check arguments and call Collector.
#include "mindtorch/reference_device/activity.h"

#include "mindtorch/reference_device/driver.h"

namespace mindtorch::reference_device {
namespace {

template <class Call>
Result with_collector(Call call) {
  if (on_library_thread) return Result::kNotPermitted;
  Driver* on = driver();
  return on != nullptr ? call(on->collector()) : Result::kPoweredOff;
}

}  // namespace

Result subscribe(const Subscriber& subscriber) noexcept {
  return with_collector([&](Collector& collector) { return collector.subscribe(subscriber); });
}
Result unsubscribe() noexcept {
  return with_collector([](Collector& collector) { return collector.unsubscribe(); });
}
Result collect(std::uint32_t kinds) noexcept {
  return with_collector([&](Collector& collector) { return collector.collect(kinds); });
}
Result flush() noexcept {
  return with_collector([](Collector& collector) { return collector.flush(); });
}
Result take_dropped(std::uint64_t* count) noexcept {
  if (count == nullptr) return Result::kInvalidArgument;
  return with_collector([&](Collector& collector) { return collector.take_dropped(count); });
}

const Activity* next_record(const std::uint8_t* buffer, std::size_t valid, const Activity* previous) noexcept {
  std::size_t at = 0;
  if (previous != nullptr) at = static_cast<std::size_t>(reinterpret_cast<const std::uint8_t*>(previous) - buffer) + previous->bytes;
  return at + sizeof(Activity) <= valid ? reinterpret_cast<const Activity*>(buffer + at) : nullptr;
}

}  // namespace mindtorch::reference_device

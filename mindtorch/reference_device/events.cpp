// The calls of device.h about events.
#include <memory>

#include "mindtorch/reference_device/api_call.h"
#include "mindtorch/reference_device/event.h"

namespace mindtorch::reference_device {

Result create_event(Event** event) noexcept {
  if (event == nullptr) return Result::kInvalidArgument;
  *event = new Event();
  return Result::kSuccess;
}

Result destroy_event(Event* event) noexcept {
  if (event == nullptr) return Result::kInvalidArgument;
  delete event;
  return Result::kSuccess;
}

Result record_event(Event* event, Stream* stream) noexcept {
  if (event == nullptr || stream == nullptr) return Result::kInvalidArgument;
  Device& device = stream->device();
  ApiCall call(device.driver(), "npuEventRecord");
  const auto place = std::make_shared<RecordedPlace>(device.index(), device.clock().ticks_per_ns());
  Kernel body = [place, &device](const DeviceView&) { place->reach(device.now().ticks); };
  const Result result = stream->enqueue({.name = "event", .body = std::move(body), .is_mark = true, .runs_always = true});
  if (result == Result::kSuccess) event->move_to(place);
  return call.finish(result);
}

Result wait_event(Stream* stream, Event* event) noexcept {
  if (event == nullptr || stream == nullptr) return Result::kInvalidArgument;
  ApiCall call(stream->device().driver(), "npuStreamWaitEvent");
  const auto place = event->last_place();
  if (place == nullptr) return call.finish(Result::kSuccess);
  Kernel body = [place](const DeviceView&) { place->wait(); };
  return call.submit(*stream, {.name = "Wait", .body = std::move(body), .runs_always = true}, kWaitActivity, WaitActivity{});
}

Result query(Event* event) noexcept {
  if (event == nullptr) return Result::kInvalidArgument;
  const auto place = event->last_place();
  return place == nullptr || place->is_reached() ? Result::kSuccess : Result::kNotReady;
}

Result synchronize(Event* event) noexcept {
  if (event == nullptr) return Result::kInvalidArgument;
  if (on_library_thread) return Result::kNotPermitted;
  const auto place = event->last_place();
  if (place == nullptr) return Result::kSuccess;
  if (Driver* on = driver()) {
    ApiCall call(*on, "npuEventSynchronize", ApiCall::Length::kWaits);
    place->wait();
  } else {
    place->wait();  // long reached: power_off() finished everything
  }
  return Result::kSuccess;
}

Result elapsed(double* milliseconds, Event* start, Event* end) noexcept {
  if (milliseconds == nullptr || start == nullptr || end == nullptr) return Result::kInvalidArgument;
  const auto from = start->last_place();
  const auto to = end->last_place();
  if (from == nullptr || to == nullptr || from->device() != to->device()) return Result::kInvalidArgument;
  if (!from->is_reached() || !to->is_reached()) return Result::kNotReady;
  const double ticks = static_cast<double>(static_cast<std::int64_t>(to->ticks() - from->ticks()));
  *milliseconds = ticks / from->ticks_per_ns() * 1e-6;
  return Result::kSuccess;
}

}  // namespace mindtorch::reference_device

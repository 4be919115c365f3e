// Streams and events of NPUs.
#include "mindtorch/runtime/kernels/npu/stream.h"

#include "mindtorch/runtime/kernels/npu/npu_backend.h"

namespace mindtorch::npu {
namespace {

Provider& any_provider() { return provider_of(kNPU); }

}  // namespace

Stream::Stream(Device device) : Stream(device, next_stream_of_pool(device)) {}

Stream Stream::current(Device device) {
  provider_of(device);
  return {device, current_stream_handle(device)};
}

Stream Stream::default_of(Device device) { return {device, provider_of(device).default_stream(device.index)}; }

int Stream::id() const { return any_provider().stream_id(handle_); }
bool Stream::query() const { return any_provider().is_idle(handle_); }
void Stream::synchronize() const { any_provider().synchronize(handle_); }
void Stream::wait_event(const Event& event) const { any_provider().wait(handle_, event.handle()); }
void Stream::wait_stream(const Stream& other) const { make_wait(handle_, other.handle_); }

Event Stream::record_event() const {
  Event event;
  event.record(*this);
  return event;
}

Event::Event() : handle_(any_provider().create_event(), [](EventHandle event) { find_provider()->destroy(event); }) {}
void Event::record(const Stream& stream) const { any_provider().record(handle(), stream.handle()); }
void Event::wait(const Stream& stream) const { stream.wait_event(*this); }
bool Event::query() const { return any_provider().is_reached(handle()); }
void Event::synchronize() const { any_provider().synchronize(handle()); }
double Event::elapsed_time(const Event& end) const { return any_provider().elapsed_milliseconds(handle(), end.handle()); }

StreamGuard::StreamGuard(const Stream& stream) : device_(stream.device()), former_(current_stream_handle(stream.device())) {
  set_current_stream_handle(device_, stream.handle());
}
StreamGuard::~StreamGuard() { set_current_stream_handle(device_, former_); }

}  // namespace mindtorch::npu

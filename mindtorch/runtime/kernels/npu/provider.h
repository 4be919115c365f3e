// Who provides NPUs: a vendor's driver as the runtime uses it. Another one adds a file and a line in providers.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/runtime/caching_allocator.h"
#include "mindtorch/runtime/device.h"

namespace mindtorch::npu {

struct StreamObject;  // the provider's own
struct EventObject;
using StreamHandle = StreamObject*;
using EventHandle = EventObject*;

// Calls may be made from any thread. Failures are thrown as Error with the driver's words; work that failed is reported by the next call
// that waits for its stream or gives it work, once.
class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;
  // ok, or what the user can do about it.
  virtual Status availability() = 0;
  // The user asks for this provider by name: does what it needs to become available, if anything.
  virtual void ask_for() {}
  virtual int device_count() = 0;

  virtual void* allocate(int device, std::size_t bytes) = 0;  // null if there is no more
  virtual void release(void* address) noexcept = 0;           // waits for work that may use it
  virtual RawMemory::Amount memory(int device) = 0;

  virtual StreamHandle default_stream(int device) = 0;
  virtual StreamHandle create_stream(int device) = 0;  // lives for ever
  virtual int stream_id(StreamHandle stream) = 0;      // as in the device's activity records
  virtual bool is_idle(StreamHandle stream) = 0;
  virtual void synchronize(StreamHandle stream) = 0;
  virtual void synchronize_device(int device) = 0;

  virtual EventHandle create_event() = 0;
  virtual void destroy(EventHandle event) noexcept = 0;
  virtual void record(EventHandle event, StreamHandle stream) = 0;
  virtual void wait(StreamHandle stream, EventHandle event) = 0;
  virtual bool is_reached(EventHandle event) = 0;  // also if it was never recorded
  virtual void synchronize(EventHandle event) = 0;
  virtual double elapsed_milliseconds(EventHandle start, EventHandle end) = 0;

  // Host code as a kernel. A provider whose device cannot run host code registers its own kernels with the dispatcher and throws here.
  virtual void launch(StreamHandle stream, const char* kernel, DeviceBackend::Work work) = 0;
  // Host memory must stay as it is until the stream has got there.
  virtual void copy(StreamHandle stream, void* to, const void* from, std::size_t bytes, DeviceBackend::CopyKind kind) = 0;
  virtual void zero(StreamHandle stream, void* to, std::size_t bytes) = 0;
  // Host code that runs when the stream gets there; no activity of the device.
  virtual void call_host(StreamHandle stream, std::function<void()> function) = 0;
};

// All of them, in the order in which they are tried.
const std::vector<Provider*>& providers();
// The first one that is available; from then on always that one. Null if there is none.
Provider* find_provider();
// Why there is none, for the user.
std::string why_no_provider();

}  // namespace mindtorch::npu

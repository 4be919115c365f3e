// Provider: the interface through which the runtime uses a vendor's driver. A new provider is a file and a line in providers.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/base/export.h"
#include "mindtorch/runtime/caching_allocator.h"
#include "mindtorch/runtime/device.h"

namespace mindtorch::npu {

struct StreamObject;  // the provider's own
struct EventObject;
using StreamHandle = StreamObject*;
using EventHandle = EventObject*;

// Calls may be made from any thread. Failures are thrown as Error with the message of the driver. Failed work is reported once, by the next
// call that waits for its stream or queues work on it.
class MINDTORCH_EXPORT Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;
  // Ok, or a reason that the user can act on.
  virtual Status availability() = 0;
  // Called when the user asks for this provider by name. Makes it available if it can.
  virtual void ask_for() {}
  virtual int device_count() = 0;

  virtual void* allocate(int device, std::size_t bytes) = 0;  // null if the memory is used up
  virtual void release(void* address) noexcept = 0;           // waits for work that may use it
  virtual RawMemory::Amount memory(int device) = 0;

  virtual StreamHandle default_stream(int device) = 0;
  virtual StreamHandle create_stream(int device) = 0;  // never destroyed
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
  // Host memory must stay unchanged until the stream has executed the copy.
  virtual void copy(StreamHandle stream, void* to, const void* from, std::size_t bytes, DeviceBackend::CopyKind kind) = 0;
  virtual void zero(StreamHandle stream, void* to, std::size_t bytes) = 0;
  // Queues host code on the stream. It is not an activity of the device.
  virtual void call_host(StreamHandle stream, std::function<void()> function) = 0;
};

// All providers, in the order in which they are tried.
MINDTORCH_EXPORT const std::vector<Provider*>& providers();
// The first available provider, which stays the same from then on. Null if no provider is available.
MINDTORCH_EXPORT Provider* find_provider();
// The reason why no provider is available, for the user.
MINDTORCH_EXPORT std::string why_no_provider();

}  // namespace mindtorch::npu

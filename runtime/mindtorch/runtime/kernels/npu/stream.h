// Streams and events of NPUs, as in torch.cuda: work of one stream runs in order, streams run side by side, events order them.
#pragma once

#include <memory>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/kernels/npu/provider.h"

namespace mindtorch::npu {

class Event;

// A handle; copies refer to the same stream.
class MINDTORCH_EXPORT Stream {
 public:
  // The next stream of the device's pool of 32, in turn. Memory may be reused by work of the stream it was allocated for as soon as its
  // tensor is destroyed, so wait for other streams that use it before that.
  explicit Stream(Device device = kNPU);
  static Stream current(Device device = kNPU);
  static Stream default_of(Device device = kNPU);

  Device device() const { return device_; }
  int id() const;  // as on the timeline; 1 is the default stream
  // True if nothing is queued or running. Like synchronize() it throws if work failed.
  bool query() const;
  void synchronize() const;
  void wait_event(const Event& event) const;
  // Makes later work of this stream wait for the work that was queued on `other` before this call.
  void wait_stream(const Stream& other) const;
  Event record_event() const;

  StreamHandle handle() const { return handle_; }
  friend bool operator==(const Stream& a, const Stream& b) { return a.handle_ == b.handle_; }

 private:
  Stream(Device device, StreamHandle handle) : device_(device), handle_(handle) {}
  Device device_;
  StreamHandle handle_;
};

// A position on a stream. Copies refer to the same event.
class MINDTORCH_EXPORT Event {
 public:
  Event();
  void record(const Stream& stream = Stream::current()) const;
  void wait(const Stream& stream = Stream::current()) const;
  bool query() const;
  void synchronize() const;
  // Milliseconds on the device's clock, from this event to `end`.
  double elapsed_time(const Event& end) const;

  EventHandle handle() const { return handle_.get(); }

 private:
  std::shared_ptr<EventObject> handle_;
};

// A guard: until it is destroyed, this thread's work on the stream's device is queued on the stream.
class MINDTORCH_EXPORT StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  Device device_;
  StreamHandle former_;
};

}  // namespace mindtorch::npu

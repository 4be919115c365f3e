// The reference device's driver as a provider. It turns failed results into errors.
#include "mindtorch/runtime/kernels/npu/reference_provider.h"

#include <mutex>
#include <utility>
#include <vector>

#include "mindtorch/reference_device/device.h"

namespace mindtorch::npu {
namespace {

namespace driver = reference_device;
using driver::Result;

driver::Stream* unwrap(StreamHandle stream) { return reinterpret_cast<driver::Stream*>(stream); }
StreamHandle wrap(driver::Stream* stream) { return reinterpret_cast<StreamHandle>(stream); }
driver::Event* unwrap(EventHandle event) { return reinterpret_cast<driver::Event*>(event); }

void check(Result result, std::string_view where) {
  if (result != Result::kSuccess) throw_error(where, "{}", driver::describe(result));
}

// A failed stream reports its failure once and then works again, so that the program can continue.
void check(Result result, driver::Stream* stream, std::string_view where) {
  if (result != Result::kKernelFailed) return check(result, where);
  const std::string text = driver::error_text(stream);
  check(driver::clear_error(stream), where);
  throw_error(where, "{}", text);
}

class ViewAddresses final : public AddressMap {
 public:
  explicit ViewAddresses(const driver::DeviceView& view) : view_(view) {}

 private:
  void* translate(const void* address) const override { return view_.at(address); }
  const driver::DeviceView& view_;
};

driver::CopyKind to_driver(DeviceBackend::CopyKind kind) {
  switch (kind) {
    case DeviceBackend::CopyKind::kHostToDevice: return driver::CopyKind::kHostToDevice;
    case DeviceBackend::CopyKind::kDeviceToHost: return driver::CopyKind::kDeviceToHost;
    case DeviceBackend::CopyKind::kDeviceToDevice: return driver::CopyKind::kDeviceToDevice;
  }
  throw_error("npu.copy", "unknown kind of copy");
}

class ReferenceProvider final : public Provider {
 public:
  std::string_view name() const override { return "reference"; }
  Status availability() override {
    const Result state = driver::power_state();
    return state == Result::kSuccess ? Status::ok() : Status::unavailable(std::string(driver::describe(state)));
  }
  void ask_for() override {
    if (driver::device_count() == 0) check(driver::power_on(), "npu.use_provider");
  }
  int device_count() override { return driver::device_count(); }

  void* allocate(int device, std::size_t bytes) override {
    void* address = nullptr;
    const Result result = driver::allocate(device, bytes, &address);
    if (result != Result::kOutOfMemory) check(result, "npu.allocate");
    return address;
  }
  void release(void* address) noexcept override { static_cast<void>(driver::release(address)); }
  RawMemory::Amount memory(int device) override {
    RawMemory::Amount amount;
    check(driver::memory_info(device, &amount.free, &amount.total), "npu.mem_get_info");
    return amount;
  }

  StreamHandle default_stream(int device) override {
    driver::Stream* stream = nullptr;
    check(driver::default_stream(device, &stream), "npu.default_stream");
    return wrap(stream);
  }
  StreamHandle create_stream(int device) override {
    driver::Stream* stream = nullptr;
    check(driver::create_stream(device, &stream), "npu.Stream");
    streams_.add(stream);
    return wrap(stream);
  }
  int stream_id(StreamHandle stream) override { return driver::stream_id(unwrap(stream)); }
  bool is_idle(StreamHandle stream) override {
    const Result result = driver::query(unwrap(stream));
    if (result == Result::kNotReady) return false;
    check(result, unwrap(stream), "npu.Stream.query");
    return true;
  }
  void synchronize(StreamHandle stream) override { check(driver::synchronize(unwrap(stream)), unwrap(stream), "npu.synchronize"); }
  void synchronize_device(int device) override;

  EventHandle create_event() override {
    driver::Event* event = nullptr;
    check(driver::create_event(&event), "npu.Event");
    return reinterpret_cast<EventHandle>(event);
  }
  void destroy(EventHandle event) noexcept override { static_cast<void>(driver::destroy_event(unwrap(event))); }
  void record(EventHandle event, StreamHandle stream) override {
    check(driver::record_event(unwrap(event), unwrap(stream)), unwrap(stream), "npu.Event.record");
  }
  void wait(StreamHandle stream, EventHandle event) override {
    check(driver::wait_event(unwrap(stream), unwrap(event)), unwrap(stream), "npu.Stream.wait_event");
  }
  bool is_reached(EventHandle event) override { return driver::query(unwrap(event)) == Result::kSuccess; }
  void synchronize(EventHandle event) override { check(driver::synchronize(unwrap(event)), "npu.Event.synchronize"); }
  double elapsed_milliseconds(EventHandle start, EventHandle end) override {
    double milliseconds = 0;
    const Result result = driver::elapsed(&milliseconds, unwrap(start), unwrap(end));
    if (result == Result::kNotReady) throw_error("npu.Event.elapsed_time", "both events must have been reached: synchronize first");
    if (result == Result::kInvalidArgument) throw_error("npu.Event.elapsed_time", "both events must be recorded, on one device");
    check(result, "npu.Event.elapsed_time");
    return milliseconds;
  }

  void launch(StreamHandle stream, const char* kernel, DeviceBackend::Work work) override {
    driver::Kernel body = [work = std::move(work)](const driver::DeviceView& view) { work(ViewAddresses(view)); };
    check(driver::launch(unwrap(stream), kernel, std::move(body)), unwrap(stream), "npu.launch");
  }
  void copy(StreamHandle stream, void* to, const void* from, std::size_t bytes, DeviceBackend::CopyKind kind) override {
    check(driver::copy_async(to, from, bytes, to_driver(kind), unwrap(stream)), unwrap(stream), "npu.copy");
  }
  void zero(StreamHandle stream, void* to, std::size_t bytes) override {
    check(driver::set_async(to, 0, bytes, unwrap(stream)), unwrap(stream), "npu.zero");
  }
  void call_host(StreamHandle stream, std::function<void()> function) override {
    check(driver::call_host(unwrap(stream), std::move(function)), unwrap(stream), "npu.call_host");
  }

 private:
  // All streams that were created here, to find the ones that failed.
  class StreamList {
   public:
    void add(driver::Stream* stream) {
      std::lock_guard lock(mutex_);
      all_.push_back(stream);
    }
    std::vector<driver::Stream*> of_device(int device) const {
      std::lock_guard lock(mutex_);
      std::vector<driver::Stream*> found;
      for (driver::Stream* stream : all_) {
        if (driver::stream_device(stream) == device) found.push_back(stream);
      }
      return found;
    }

   private:
    mutable std::mutex mutex_;
    std::vector<driver::Stream*> all_;
  };
  StreamList streams_;
};

void ReferenceProvider::synchronize_device(int device) {
  const Result result = driver::synchronize_device(device);
  if (result != Result::kKernelFailed) return check(result, "npu.synchronize");
  std::string failures;
  std::vector<driver::Stream*> streams = streams_.of_device(device);
  streams.push_back(unwrap(default_stream(device)));
  for (driver::Stream* stream : streams) {
    const std::string text = driver::error_text(stream);
    if (text.empty()) continue;
    failures += (failures.empty() ? "" : "; ") + text;
    check(driver::clear_error(stream), "npu.synchronize");
  }
  throw_error("npu.synchronize", "{}", failures);
}

}  // namespace

Provider& reference_provider() {
  static auto& provider = *new ReferenceProvider();
  return provider;
}

}  // namespace mindtorch::npu

// What tests of the reference device share: a device for the length of a test, a gate that holds a stream, a subscriber that keeps all.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "mindtorch/reference_device/activity.h"
#include "mindtorch/reference_device/device.h"
#include "mindtorch/reference_device/truth.h"

namespace mindtorch::reference_device {

class Powered {
 public:
  explicit Powered(const Config& config = {.memory_bytes = std::uint64_t{64} << 20}) {
    if (power_on(config) != Result::kSuccess) ADD_FAILURE() << "the reference device is already on";
  }
  ~Powered() { static_cast<void>(power_off()); }
};

inline Stream* main_stream(int device = 0) {
  Stream* stream = nullptr;
  EXPECT_EQ(default_stream(device, &stream), Result::kSuccess);
  return stream;
}

inline Stream* new_stream(int device = 0) {
  Stream* stream = nullptr;
  EXPECT_EQ(create_stream(device, &stream), Result::kSuccess);
  return stream;
}

// Holds what waits for it until it is opened. Opens when it goes away, so that a failing test ends.
class Gate {
 public:
  ~Gate() { open(); }
  void open() {
    const std::shared_ptr<State> state = state_;  // whoever is let through may destroy the gate at once
    state->open();
  }
  // A kernel that waits for the gate.
  Kernel kernel() const {
    return [state = state_](const DeviceView&) { state->wait(); };
  }
  void wait() const { state_->wait(); }

 private:
  struct State {
    void open() {
      {
        std::lock_guard lock(mutex);
        is_open = true;
      }
      changed.notify_all();
    }
    void wait() {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return is_open; });
    }
    std::mutex mutex;
    std::condition_variable changed;
    bool is_open = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

inline Kernel nothing() {
  return [](const DeviceView&) {};
}

// Subscribes for its lifetime and keeps every record in the order of delivery.
class KeepingSubscriber {
 public:
  explicit KeepingSubscriber(std::size_t buffer_bytes = 4096, std::uint64_t (*host_now)(void*) = nullptr) : buffer_bytes_(buffer_bytes) {
    EXPECT_EQ(subscribe({.request = &request, .complete = &complete, .host_now = host_now, .user = this}), Result::kSuccess);
  }
  ~KeepingSubscriber() { static_cast<void>(unsubscribe()); }

  void refuse_buffers() { buffer_bytes_ = 0; }
  // Waits for the devices, then for the delivery.
  void drain(int devices = 1) {
    for (int i = 0; i < devices; ++i) static_cast<void>(synchronize_device(i));
    EXPECT_EQ(flush(), Result::kSuccess);
  }

  // Read only when nothing is being delivered: after drain() with collection off.
  std::vector<ApiActivity> calls;
  std::vector<KernelActivity> kernels;
  std::vector<MemcpyActivity> copies;
  std::vector<MemsetActivity> sets;
  std::vector<WaitActivity> waits;
  int buffers = 0;

  std::size_t size() const { return calls.size() + kernels.size() + copies.size() + sets.size() + waits.size(); }

 private:
  static void request(void* user, std::uint8_t** buffer, std::size_t* bytes) {
    *bytes = static_cast<KeepingSubscriber*>(user)->buffer_bytes_;
    *buffer = *bytes != 0 ? new std::uint8_t[*bytes] : nullptr;
  }
  static void complete(void* user, std::uint8_t* buffer, std::size_t, std::size_t valid) {
    auto& self = *static_cast<KeepingSubscriber*>(user);
    ++self.buffers;
    for (const Activity* next = nullptr; (next = next_record(buffer, valid, next)) != nullptr;) self.keep(*next);
    delete[] buffer;
  }
  void keep(const Activity& activity) {
    switch (activity.kind) {
      case kApiActivity: return calls.push_back(static_cast<const ApiActivity&>(activity));
      case kKernelActivity: return kernels.push_back(static_cast<const KernelActivity&>(activity));
      case kMemcpyActivity: return copies.push_back(static_cast<const MemcpyActivity&>(activity));
      case kMemsetActivity: return sets.push_back(static_cast<const MemsetActivity&>(activity));
      case kWaitActivity: return waits.push_back(static_cast<const WaitActivity&>(activity));
    }
    ADD_FAILURE() << "a record of unknown kind " << activity.kind;
  }

  std::size_t buffer_bytes_;
};

}  // namespace mindtorch::reference_device

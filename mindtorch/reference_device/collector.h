// The collector behind activity.h: takes records from the threads of programs and from stream workers, and delivers them to the subscriber.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "mindtorch/reference_device/activity.h"

namespace mindtorch::reference_device {

using Record = std::variant<ApiActivity, KernelActivity, MemcpyActivity, MemsetActivity, WaitActivity>;

// True on threads of the library: inside a kernel or a buffer callback, where waiting for the library would be a deadlock.
extern thread_local bool on_library_thread;

std::uint64_t monotonic_ns() noexcept;
std::uint32_t current_thread_id() noexcept;
// A copy of `name` that is never freed. Equal names share one copy.
const char* lasting_name(std::string_view name);

class Collector {
 public:
  explicit Collector(const DeliveryConfig& config) : config_(config), disorder_(config.disorder_seed) {}
  ~Collector() { static_cast<void>(unsubscribe()); }

  Result subscribe(const Subscriber& subscriber);
  Result unsubscribe();
  Result collect(std::uint32_t kinds);
  Result flush();
  Result take_dropped(std::uint64_t* count);

  // The set at the beginning of a call. Valid between enter() and leave(); collect() and unsubscribe() wait during that time.
  struct Set {
    std::uint32_t kinds = 0;
    std::uint32_t generation = 0;  // a new one for every collect()
  };
  // If the set is empty, leave() must not be called.
  Set enter() noexcept;
  void leave() noexcept;
  std::uint64_t host_now() const { return subscriber_.host_now != nullptr ? subscriber_.host_now(subscriber_.user) : monotonic_ns(); }

  // Takes the record, or drops and counts it.
  void add(Record record);

 private:
  void deliver_until_unsubscribed();
  // Writes a batch to the subscriber's buffers. Hands back each full buffer, and the last one too if `all`.
  void deliver(const std::vector<Record>& batch, bool all);
  bool write(const Record& record);
  void complete_buffer();

  const DeliveryConfig config_;
  Subscriber subscriber_;
  std::atomic<std::uint64_t> set_{0};  // generation << 32 | kinds
  std::atomic<std::uint32_t> entered_{0};
  std::mutex subscription_mutex_;  // held by subscribe, unsubscribe, collect

  std::mutex mutex_;
  std::condition_variable wake_;       // the delivery thread
  std::condition_variable delivered_;  // threads in flush()
  std::vector<Record> waiting_;
  std::uint64_t seen_ = 0;
  std::uint64_t seen_on_device_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t flushes_asked_ = 0;
  std::uint64_t flushes_done_ = 0;
  bool subscribed_ = false;

  // Used only by the delivery thread.
  std::thread thread_;
  std::vector<Record> held_;
  struct Buffer {
    std::uint8_t* data = nullptr;
    std::size_t bytes = 0;
    std::size_t valid = 0;
  } buffer_;
  std::minstd_rand disorder_;
};

}  // namespace mindtorch::reference_device

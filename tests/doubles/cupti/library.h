// The state of the double: who has subscribed, what is enabled, and the parts that do the work.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "tests/doubles/cupti/clock.h"
#include "tests/doubles/cupti/delivery.h"
#include "tests/doubles/cupti/device.h"
#include "tests/doubles/cupti/graphs.h"
#include "tests/doubles/cupti/records.h"
#include "tests/doubles/library_base.h"

namespace cupti_double {

// What a client does that CUPTI does not allow.
void report_violation(const std::string& sentence);

class Library : public doubles::LibraryBase {
 public:
  Clock clock;
  Delivery delivery;
  Device device;
  Graphs graphs;

  std::uint32_t version() const { return version_; }
  void set_version(std::uint32_t version) { version_ = version; }

  // Of the subscriber. `params` may be null.
  abi::Result subscribe(abi::Subscriber* subscriber, abi::CallbackFunction callback, void* user, abi::SubscriberParams* params);
  abi::Result unsubscribe(abi::Subscriber subscriber);
  abi::Result enable_callback(bool enable, abi::Subscriber subscriber, std::uint32_t domain, std::uint32_t callback_id);
  void set_other_subscriber(const char* name);
  // Calls the client if it wants that callback.
  void call_back(std::uint32_t domain, std::uint32_t callback_id, const void* data);

  // What is recorded.
  bool is_enabled(std::uint32_t kind) const;
  void enable(std::uint32_t kind, bool on);
  bool is_function_enabled(std::uint32_t domain, std::uint32_t callback_id) const;
  void enable_function(std::uint32_t domain, std::uint32_t callback_id, bool on);
  void use_system_thread_ids(bool use) { system_thread_ids_ = use; }
  // As records name the calling thread.
  std::uint32_t thread_id() const;

  std::uint32_t next_correlation() { return ++last_correlation_; }
  void reserve_correlations_up_to(std::uint32_t last);
  // The record of a call made by this thread; times are CLOCK_MONOTONIC.
  void write_call(std::uint32_t domain, std::uint32_t callback_id, std::int64_t start, std::int64_t end, std::uint32_t correlation);

  void set_function_name(std::uint32_t domain, std::uint32_t callback_id, const std::string& name);
  const char* function_name(std::uint32_t domain, std::uint32_t callback_id);  // null: unknown
  void reset();

 private:
  using Function = std::pair<std::uint32_t, std::uint32_t>;  // domain, callback id

  std::atomic<std::uint32_t> version_{130001};
  std::atomic<std::uint32_t> last_correlation_{0};
  std::atomic<bool> system_thread_ids_{false};
  mutable std::mutex mutex_;  // guards what follows
  abi::CallbackFunction callback_ = nullptr;
  void* user_ = nullptr;
  std::string subscriber_name_;
  std::string other_subscriber_;
  std::set<Function> enabled_callbacks_;
  std::set<std::uint32_t> enabled_kinds_;
  std::set<Function> disabled_functions_;
  std::map<Function, const char*> function_names_;
};

Library& library();

}  // namespace cupti_double

// The state of the double: who has subscribed, what is enabled, and the parts that do the work.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "tests/doubles/cupti/clock.h"
#include "tests/doubles/cupti/device.h"
#include "tests/doubles/cupti/graphs.h"
#include "tests/doubles/cupti/records.h"
#include "tests/doubles/cupti/tool.h"
#include "tests/doubles/library_base.h"

namespace cupti_double {

// What a client does that CUPTI does not allow.
void report_violation(const std::string& sentence);

class Library : public doubles::LibraryBase {
 public:
  Clock clock;
  Device device;
  Graphs graphs;
  std::atomic<bool> event_times{false};  // records of CUDA events have the time of the device

  std::uint32_t version() const { return version_; }
  void set_version(std::uint32_t version) { version_ = version; }
  // Subscribers have an interface of their own.
  bool is_shared_version() const { return version_ >= abi::kFirstVersionWithUserDefinedRecords; }

  // Of subscribers. `params` may be null.
  abi::Result subscribe(abi::Subscriber* subscriber, abi::CallbackFunction callback, void* user, abi::SubscriberParams* params);
  abi::Result subscribe_shared(abi::Subscriber* subscriber, abi::CallbackFunction callback, void* user, abi::SubscriberParams* params);
  abi::Result unsubscribe(abi::Subscriber subscriber);
  abi::Result enable_callback(bool enable, abi::Subscriber subscriber, std::uint32_t domain, std::uint32_t callback_id);
  abi::Result enable_domain(bool enable, abi::Subscriber subscriber, std::uint32_t domain);
  void set_other_subscriber(const char* name);
  // Calls the clients that want that callback.
  void call_back(std::uint32_t domain, std::uint32_t callback_id, const void* data);
  std::size_t subscribers() const;
  bool has_shared_subscribers() const;

  // The tool that uses the classic interface. Reports a client that uses it beside a subscriber's own.
  Tool& classic(const char* function);
  // Returns null, and reports a violation, if no tool has subscribed with that handle.
  Tool* find(abi::Subscriber subscriber, const char* function);

  // These functions take or return sets of tools.
  using Tools = std::uint32_t;  // one bit each
  Tools wanted_by(std::uint32_t kind) const;
  Tools call_wanted_by(std::uint32_t domain, std::uint32_t callback_id) const;
  abi::Result enable(Tool& tool, std::uint32_t kind, bool on);
  abi::Result enable_classic(Tool& tool, std::uint32_t kind);
  abi::Result enable_shared(Tool& tool, std::uint32_t kind, const abi::ActivityConfig* config);
  void enable_function(Tool& tool, std::uint32_t domain, std::uint32_t callback_id, bool on);
  abi::Result set_attribute(Tool& tool, std::uint32_t attribute, std::size_t size, const void* value);
  void use_system_thread_ids(Tool& tool, bool use);
  bool traces_whole_graphs() const;
  bool may_have_several_subscribers() const { return may_share_; }

  // Records and buffers.
  void write(Tools tools, std::uint64_t lane, const std::string& record);
  void end_buffers(Tools tools, std::uint64_t lane);
  void count_dropped(Tools tools, std::uint64_t count);
  void flush();
  bool is_registered() const;
  std::uint64_t buffers_held() const;
  void set_faults(const CuptiDoubleFaults& faults);
  void set_layouts(const CuptiDoubleLayouts& layouts);
  CuptiDoubleLayouts layouts() const;

  std::uint32_t next_correlation() { return ++last_correlation_; }
  void reserve_correlations_up_to(std::uint32_t last);
  // The record of a call made by this thread; times are CLOCK_MONOTONIC.
  void write_call(std::uint32_t domain, std::uint32_t callback_id, std::int64_t start, std::int64_t end, std::uint32_t correlation,
                  abi::Result result = abi::kSuccess);

  void set_function_name(std::uint32_t domain, std::uint32_t callback_id, const std::string& name);
  const char* function_name(std::uint32_t domain, std::uint32_t callback_id);  // null: unknown
  void reset();

 private:
  static constexpr std::size_t kTools = 4;
  static std::uint32_t initial_version();
  abi::Result refuse(abi::SubscriberParams* params, const std::string& name);
  Tool* free_tool();

  std::atomic<std::uint32_t> version_{initial_version()};
  std::atomic<std::uint32_t> last_correlation_{0};
  mutable std::mutex layouts_mutex_;
  CuptiDoubleLayouts layouts_;
  mutable std::mutex mutex_;        // guards what follows
  std::array<Tool, kTools> tools_;  // the first one is the classic one
  bool was_classic_ = false;        // a kind has been enabled through the classic interface: the newer one cannot be used any more
  bool may_share_ = false;          // as the first subscriber asked
  bool has_whole_graphs_ = false;   // for all subscribers that share
  std::string other_subscriber_;
  std::map<Function, const char*> function_names_;
};

Library& library();

}  // namespace cupti_double

// Subscription: what one session has enabled in CUPTI, from prepare() to the end of stop().
//
// There are two interfaces. The classic one has fixed records and settings that hold for the process; it serves one tool. From CUPTI 13.3
// on each subscriber has settings of its own and selects the fields of its records, and several tools may subscribe. The newer one is used
// where the library and the driver support it and no other tool uses the classic one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/record/source.h"
#include "mindtorch/sources/cupti/cupti_abi_v2.h"
#include "mindtorch/sources/cupti/kinds.h"
#include "mindtorch/sources/cupti/library.h"

namespace mindtorch::sources::cupti {

// Whose clock callbacks read: that of a subscriber of the newer interface, or null for the one of the process. CUPTI refuses the latter
// while there are such subscribers.
using ClockOwner = std::atomic<Subscriber>;

// The callbacks of the source. They outlive every subscription, because CUPTI may hand buffers back at any time.
struct SourceCallbacks {
  CallbackFunction events = nullptr;  // calls, and nodes of graphs
  void* user = nullptr;
  ClockOwner* clock_owner = nullptr;
  BufferRequested requested = nullptr;
  BufferCompleted completed = nullptr;
  SharedBufferRequested shared_requested = nullptr;
  SharedBufferCompleted shared_completed = nullptr;
};

class Subscription {
 public:
  explicit Subscription(const Library& library) : library_(library) {}
  virtual ~Subscription() = default;
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  // Registers everything but the kinds.
  virtual Status open(const SourceCallbacks& callbacks, bool whole_graphs) = 0;
  virtual Result enable(std::uint32_t kind) = 0;
  virtual Result disable(std::uint32_t kind) = 0;
  virtual Result read_clock(std::uint64_t* ns) const = 0;
  virtual Result count_dropped(std::size_t* dropped) const = 0;
  virtual std::string_view name() const = 0;

  // Asks for the callbacks at both ends of calls, as enable_kinds() does. Returns false, with the reason in why_call_records(), if calls
  // must be records.
  bool enable_call_callbacks();
  void disable_call_callbacks();
  // After that: true if calls come from callbacks, which cost less than CUPTI's records of calls. Otherwise they are among the kinds.
  bool has_call_callbacks() const { return why_call_records_.empty(); }
  // Why calls are records; empty if they are not.
  const std::string& why_call_records() const { return why_call_records_; }
  // Enables the kinds of `options` that the library has. A failure leaves nothing enabled.
  Status enable_kinds(const record::SourceOptions& options);
  void disable_kinds();
  void disable_device_kinds();
  // Since the last enable_kinds().
  const ExtraParts& extra_parts() const { return extra_parts_; }

  // What the session will lack although it runs.
  const std::vector<std::string>& limits() const { return limits_; }
  // The name of another tool that has subscribed, as far as it is known.
  const std::string& other_subscriber() const { return other_subscriber_; }

 protected:
  // Null if another tool has subscribed.
  virtual Subscriber subscriber() const = 0;
  // Asks for the callbacks that tell of the nodes of graphs. A failure becomes a limit.
  bool watch_graph_nodes(Subscriber subscriber);
  // Before the kinds are enabled, and after they have been disabled.
  virtual void use_system_thread_ids(bool) {}
  // After the kinds, which switch all of their functions on.
  virtual void switch_calls_off() {}
  // Whether records of CUDA events have the time of the device from now on. Returns false if the library cannot tell it.
  virtual bool tell_event_times(bool tell) = 0;

  const Library& library_;
  std::vector<std::string> limits_;
  std::string other_subscriber_;

 private:
  Status ask_for_call_callbacks();
  // The kinds that a user asks for besides device work. What the library refuses becomes a limit, and the rest is recorded without it.
  void enable_extra_kinds(const record::SourceOptions& options);
  void enable_events(const record::SourceOptions& options);
  bool enable_extra_kind(std::uint32_t kind, std::string_view name, std::string_view what);
  void add_limit(std::string limit);

  std::vector<std::uint32_t> enabled_;
  bool watches_calls_ = false;  // callbacks of calls are on
  std::string why_call_records_;
  ExtraParts extra_parts_;
};

// MINDTORCH_CUPTI_RECORDS holds the word "classic".
bool is_classic_forced();
// It holds the word "calls": calls of CUDA are recorded by CUPTI's records of them.
bool are_call_records_forced();

struct OpenedSubscription {
  std::unique_ptr<Subscription> subscription;  // null if the status says why
  Status status = Status::ok();
  std::string why_classic;  // why the newer interface is not used; empty if it is
};
// Tries the newer interface first. `why_classic`: it has been tried already, and this is what went wrong. A process that has used the
// classic interface cannot use the newer one any more.
OpenedSubscription open_subscription(const Library& library, const SourceCallbacks& callbacks, bool whole_graphs,
                                     std::string why_classic = "");

}  // namespace mindtorch::sources::cupti

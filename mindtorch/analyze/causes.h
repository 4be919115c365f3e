// Causes: what a moment of a thread or of a device was spent on, and which cause each recorded event stands for.
//
// An event has the cause that its name or kind says, else the cause of the event around it. Scopes of the user, modules and steps say
// nothing: what passes in them outside of ops is decided by samples and by recorded Python calls (attribution.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/event_names.h"
#include "mindtorch/analyze/event_tree.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

// Pages and files hold the numbers: append, never renumber.
enum class Cause : std::uint8_t {
  kForward,
  kBackward,
  kOptimizer,
  kLoading,
  kCopy,
  kCollective,
  kDeviceWait,
  kPython,
  kUnknown,  // outside of everything that was recorded
  kCompiling,
  kLock,
  kGil,
  kIo,
  kThread,  // waiting for another thread or process
  kSleep,
  kGarbage,
  kNative,
  kNotRunning,
  kOverhead,
  kRequests,  // an event loop or a server that has nothing to do
};
inline constexpr std::size_t kCauses = 20;

MINDTORCH_EXPORT std::string_view cause_name(Cause cause);  // "forward", "waiting for the device", ...

// The causes that ops have: work, as opposed to waiting and Python.
constexpr bool is_op_cause(Cause cause) { return cause <= Cause::kOptimizer; }

class MINDTORCH_EXPORT EventCauses {
 public:
  // O(events); one byte per event.
  EventCauses(const trace::Recording& recording, const EventTree& tree);

  // kUnknown for events that say nothing about themselves.
  Cause of(EventIndex event) const { return cause_[event]; }
  // The time from which on an event has its cause. It is the start, except for an optimizer's step with a closure: until the closure has
  // returned, only what runs inside counts.
  std::int64_t begins_at(EventIndex event) const;

 private:
  Cause cause_of(EventIndex event);
  std::int64_t closure_end(EventIndex step) const;

  const trace::Recording* recording_;
  const EventTree* tree_;
  bool has_device_work_ = false;
  std::vector<std::uint8_t> known_;  // by name: the cause that the name says; one more than that, 0: not looked at yet
  std::vector<Cause> cause_;
};

// True for the name of a kernel or call that moves data between devices.
MINDTORCH_EXPORT bool is_collective_name(std::string_view name);

}  // namespace mindtorch::analyze

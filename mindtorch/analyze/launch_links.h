// LaunchLinks: which host event caused which device activity, and the device time each host event therefore has.
//
// A device activity belongs to the call that launched it (same correlation), and through it to the innermost op or scope around that call.
// Work of a captured graph has two callers: the call that replays the graph launched it, and the call that was captured determines the op
// that it belongs to, if that call is in the recording too.
// Waits (kSync) and the spans of scopes (kDeviceScope) are not work: they are linked, but their time is not counted.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "mindtorch/analyze/event_tree.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/launches.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

using trace::is_device_work;

// The number of launches, and of the device records that they caused.
struct LaunchCounts {
  std::uint64_t launches = 0;  // calls, those without a device record included
  std::uint64_t records = 0;   // kernels, copies, sets and collectives
};
// O(events), nothing is kept.
MINDTORCH_EXPORT LaunchCounts count_launches(const trace::Recording& recording);

class MINDTORCH_EXPORT LaunchLinks {
 public:
  // O(events); 20 bytes per event if the recording has device activities (24 if it has those of captured graphs), else nothing.
  LaunchLinks(const trace::Recording& recording, const EventTree& tree);

  bool empty() const { return launch_.empty(); }
  // The runtime or driver call that started a device activity; kNoEvent if it was not seen.
  EventIndex launch_of(EventIndex activity) const { return empty() ? kNoEvent : launch_[activity]; }
  // The node of the tree a device activity belongs to; kNoEvent if it was launched outside of any.
  EventIndex host_of(EventIndex activity) const;
  // Device work launched by a node itself, not by its children.
  std::int64_t self_ns(EventIndex node) const { return empty() ? 0 : self_ns_[node]; }
  std::int64_t total_ns(EventIndex node) const { return empty() ? 0 : total_ns_[node]; }
  // The work (kernels, copies, sets, collectives) a node launched itself, in order of their indices. O(log activities), except for the
  // first call, which sorts them. Any thread.
  std::vector<EventIndex> activities_of(EventIndex node) const;

 private:
  struct Work {
    EventIndex host;
    EventIndex activity;
    friend auto operator<=>(const Work&, const Work&) = default;
  };

  void find_captured_calls(trace::LaunchIndex& launches);
  void link();
  void sum_up();
  const std::vector<Work>& work() const;

  const trace::Recording* recording_;
  const EventTree* tree_;
  trace::Column<EventIndex> launch_;
  trace::Column<EventIndex> captured_call_;  // empty if no activity has one
  trace::Column<std::int64_t> self_ns_;
  trace::Column<std::int64_t> total_ns_;
  mutable std::once_flag work_is_sorted_;
  mutable std::vector<Work> work_;  // sorted; empty until work() is called, because averages do not need it
};

}  // namespace mindtorch::analyze

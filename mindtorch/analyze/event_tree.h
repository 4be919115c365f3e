// EventTree: which host event lies inside which, and the time each spent itself.
//
// As torch has it: an event is the child of the innermost event of its thread that wholly contains it; two events that overlap in part are
// not related. A call that is the only child of a call of the same name (a wrapper and what it wraps) is merged into it.
//
// In the tree: ops, autograd nodes, scopes, steps, runtime and driver calls, profiler overhead. Python frames and module calls are not
// nodes: their time is not subtracted from the scope around them, but they have a parent. Async events, instants and device activities are
// outside of the tree.
#pragma once

#include <cstdint>
#include <vector>

#include "mindtorch/analyze/event_names.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

class MINDTORCH_EXPORT EventTree {
 public:
  enum class Role : std::uint8_t {
    kUnlisted,  // an instant or a hidden name
    kLone,      // listed but not in the tree: async events, device activities
    kNode,
    kMerged,  // a node that was merged into its parent
    kFrame,   // a Python frame or module call
  };

  // Makes one pass over the recording without sorting; takes 17 bytes per event.
  EventTree(const trace::Recording& recording, const EventNames& names);

  std::size_t size() const { return parent_.size(); }
  Role role(EventIndex event) const { return role_[event]; }
  bool is_node(EventIndex event) const { return role_[event] == Role::kNode; }
  // True if an event counts in averages, and if it is in torch's list of events at all (Python frames are).
  bool is_averaged(EventIndex event) const { return role_[event] == Role::kNode || role_[event] == Role::kLone; }
  bool is_listed(EventIndex event) const { return is_averaged(event) || role_[event] == Role::kFrame; }
  // The node around an event, kNoEvent if there is none. Of a merged event: the node it was merged into.
  EventIndex parent(EventIndex event) const { return parent_[event]; }
  // The node that stands for an event in lists: itself, or what it was merged into.
  EventIndex node_of(EventIndex event) const { return role_[event] == Role::kMerged ? parent_[event] : event; }
  // Duration less the durations of the children. Negative only where children overlap each other in part.
  std::int64_t self_ns(EventIndex event) const { return self_ns_[event]; }
  // All descendants of a node lie in (event, subtree_end(event)).
  EventIndex subtree_end(EventIndex event) const { return subtree_end_[event]; }
  // Direct children in order of start. O(children).
  std::vector<EventIndex> children(EventIndex event) const;
  // Number of nodes around an event. O(depth).
  std::uint32_t depth(EventIndex event) const;
  // Pairs of neighbours found to overlap in part: 0 in anything our own recorder made.
  std::uint64_t partial_overlaps() const { return partial_overlaps_; }

 private:
  class TrackPass;

  trace::Column<EventIndex> parent_;
  trace::Column<EventIndex> subtree_end_;
  trace::Column<std::int64_t> self_ns_;
  trace::Column<Role> role_;
  std::uint64_t partial_overlaps_ = 0;
};

}  // namespace mindtorch::analyze

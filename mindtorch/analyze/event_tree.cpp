// EventTree: one pass over each track, with a stack of the nodes that are still open.
#include "mindtorch/analyze/event_tree.h"

#include <algorithm>
#include <array>

#include "mindtorch/base/large_pages.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

constexpr auto kRoleOfKind = [] {
  std::array<EventTree::Role, trace::kEventKinds> roles{};
  roles.fill(EventTree::Role::kLone);
  roles[static_cast<std::size_t>(EventKind::kInstant)] = EventTree::Role::kUnlisted;
  for (const EventKind kind : {EventKind::kOp, EventKind::kBackward, EventKind::kScope, EventKind::kStep, EventKind::kRuntime,
                               EventKind::kDriver, EventKind::kOverhead}) {
    roles[static_cast<std::size_t>(kind)] = EventTree::Role::kNode;
  }
  for (const EventKind kind : {EventKind::kModule, EventKind::kPythonFunction})
    roles[static_cast<std::size_t>(kind)] = EventTree::Role::kFrame;
  return roles;
}();

}  // namespace

// The events of one track, which come outer before inner. An open node keeps what is needed to close it, so that columns are written once.
class EventTree::TrackPass {
 public:
  TrackPass(EventTree& tree, const trace::EventColumns& events, const EventNames& names)
      : tree_(tree), events_(events), keys_(names.keys()) {}

  void run(EventIndex first, EventIndex end) {
    bool merged = false;
    for (EventIndex i = first; i < end; ++i) {
      const EventNames::Key key = keys_[events_.name[i]];
      Role role = kRoleOfKind[static_cast<std::size_t>(events_.kind[i])];
      if ((events_.flags[i] & trace::kAsync) != 0 && role == Role::kNode) role = Role::kLone;
      if (key == EventNames::kHidden || (events_.flags[i] & trace::kTraceOnly) != 0) role = Role::kUnlisted;
      tree_.role_[i] = role;
      if (role == Role::kNode) {
        merged |= push(i, key);
      } else {
        tree_.parent_[i] = role == Role::kFrame ? innermost_around(i) : kNoEvent;
        tree_.subtree_end_[i] = i + 1;
        tree_.self_ns_[i] = 0;
      }
    }
    while (!open_.empty()) merged |= close(end);
    if (merged) skip_merged_parents(first, end);
  }

 private:
  struct Open {
    std::int64_t end_ns;
    std::int64_t self_ns;
    EventIndex index;
    EventIndex last_child;
    std::uint32_t children;
    EventNames::Key key;
  };

  bool push(EventIndex i, EventNames::Key key) {
    const std::int64_t start = events_.start_ns[i], duration = events_.duration_ns[i], end = start + duration;
    bool merged = false;
    while (!open_.empty() && (start >= open_.back().end_ns || end > open_.back().end_ns)) {
      if (start < open_.back().end_ns) ++tree_.partial_overlaps_;
      merged |= close(i);
    }
    EventIndex parent = kNoEvent;
    if (!open_.empty()) {
      Open& outer = open_.back();
      parent = outer.index;
      outer.self_ns -= duration;
      outer.last_child = i;
      ++outer.children;
    }
    tree_.parent_[i] = parent;
    open_.push_back({end, duration, i, kNoEvent, 0, key});
    return merged;
  }

  // Closes the innermost open node; true if its only child was merged into it.
  bool close(EventIndex next) {
    Open& node = open_.back();
    const bool merges = node.children == 1 && keys_[events_.name[node.last_child]] == node.key;
    if (merges) {
      node.self_ns += tree_.self_ns_[node.last_child];
      tree_.self_ns_[node.last_child] = 0;
      tree_.role_[node.last_child] = Role::kMerged;
    }
    tree_.self_ns_[node.index] = node.self_ns;
    tree_.subtree_end_[node.index] = next;
    open_.pop_back();
    return merges;
  }

  // Open nodes contain each other, so their ends fall from outermost to innermost: the innermost that reaches far enough is found by
  // bisection.
  EventIndex innermost_around(EventIndex i) const {
    const std::int64_t start = events_.start_ns[i], end = events_.end_ns(i);
    const auto beyond =
        std::partition_point(open_.begin(), open_.end(), [&](const Open& node) { return node.end_ns >= end && node.end_ns > start; });
    return beyond == open_.begin() ? kNoEvent : (beyond - 1)->index;
  }

  // Parents come before children, so one pass forward lifts whole chains.
  void skip_merged_parents(EventIndex first, EventIndex end) {
    for (EventIndex i = first; i < end; ++i) {
      const EventIndex parent = tree_.parent_[i];
      if (parent != kNoEvent && tree_.role_[parent] == Role::kMerged) tree_.parent_[i] = tree_.parent_[parent];
    }
  }

  EventTree& tree_;
  const trace::EventColumns& events_;
  const std::vector<EventNames::Key>& keys_;
  std::vector<Open> open_;
};

EventTree::EventTree(const trace::Recording& recording, const EventNames& names) {
  const std::size_t n = recording.events.size();
  parent_.resize(n);
  subtree_end_.resize(n);
  self_ns_.resize(n);
  role_.resize(n);
  prefer_large_pages(parent_);
  prefer_large_pages(subtree_end_);
  prefer_large_pages(self_ns_);
  prefer_large_pages(role_);
  TrackPass pass(*this, recording.events, names);
  for (const trace::Track& track : recording.tracks) pass.run(track.first_event, track.first_event + track.event_count);
}

std::vector<EventIndex> EventTree::children(EventIndex event) const {
  std::vector<EventIndex> found;
  if (!is_node(event)) return found;
  for (EventIndex i = event + 1; i < subtree_end_[event];) {
    if (role_[i] == Role::kNode) found.push_back(i);
    i = role_[i] == Role::kNode ? subtree_end_[i] : i + 1;  // a merged child is skipped, and its children are visited
  }
  return found;
}

std::uint32_t EventTree::depth(EventIndex event) const {
  std::uint32_t depth = 0;
  for (EventIndex up = parent_[event]; up != kNoEvent; up = parent_[up]) ++depth;
  return depth;
}

}  // namespace mindtorch::analyze

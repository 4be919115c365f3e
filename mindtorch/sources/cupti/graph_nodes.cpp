// The table of graph nodes.
#include "mindtorch/sources/cupti/graph_nodes.h"

#include <algorithm>

namespace mindtorch::sources::cupti {

std::uint32_t GraphNodes::entry_of(std::uint64_t node) const {
  const auto found = entry_of_node_.find(node);
  return found == entry_of_node_.end() ? kNone : found->second;
}

void GraphNodes::created(std::uint64_t node, NodeOrigin origin) {
  std::lock_guard lock(mutex_);
  if (entry_of_node_.size() >= kMostNodes) return;
  // An id that comes again belongs to a new node.
  entry_of_node_[node] = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({node, origin});
}

void GraphNodes::cloned(std::uint64_t node, std::uint64_t original) {
  std::lock_guard lock(mutex_);
  const std::uint32_t entry = entry_of(original);
  if (entry == kNone || entry_of_node_.size() >= kMostNodes) return;
  entry_of_node_[node] = entry;
}

std::optional<NodeOrigin> GraphNodes::find(std::uint64_t node) const {
  std::lock_guard lock(mutex_);
  const std::uint32_t entry = entry_of(node);
  return entry == kNone ? std::nullopt : std::optional(entries_[entry].origin);
}

std::vector<GraphNodes::Created> GraphNodes::created_in(std::uint32_t recording) const {
  std::lock_guard lock(mutex_);
  std::vector<Created> found;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    // CUPTI reports a copy as created before it reports it as copied. Such an entry is in use no longer.
    const bool is_copy = entry_of(entries_[i].node) != i;
    if (!is_copy && entries_[i].origin.recording == recording) found.push_back(entries_[i]);
  }
  return found;
}

void GraphNodes::set_captured_call(std::uint64_t node, std::uint32_t recording, std::uint64_t correlation) {
  std::lock_guard lock(mutex_);
  const std::uint32_t entry = entry_of(node);
  if (entry == kNone) return;
  entries_[entry].origin.capture_recording = recording;
  entries_[entry].origin.capture_correlation = correlation;
}

}  // namespace mindtorch::sources::cupti

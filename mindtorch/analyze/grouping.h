// Grouping: which events make one row of key averages. Used by key_averages.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/function_event.h"
#include "mindtorch/analyze/key_averages.h"

namespace mindtorch::analyze {

// torch's group key (name, timeline, annotation or not, and what the options add), and the device of the op where the host knows it.
struct GroupKey {
  EventNames::Key name = 0;
  std::uint32_t where = 0;
  std::uint32_t shapes = 0;
  std::uint32_t stack = 0;
  std::uint32_t overload = 0;
  friend bool operator==(const GroupKey&, const GroupKey&) = default;
};

class Grouping {
 public:
  Grouping(const Analysis& analysis, const GroupOptions& options);

  // The group of an event, numbered from 0 in the order in which groups are first met. Ask for events in increasing order; rewind() to
  // start again.
  std::uint32_t group_of(EventIndex event) {
    const GroupKey key = key_of(event);
    std::uint32_t& last = last_group_[key.name];
    if (last == kNone || groups_[last] != key) [[unlikely]]
      last = last == kNone ? add_first_of_name(key) : find(key);
    return last;
  }
  void rewind() { input_row_ = 0; }
  std::size_t size() const { return groups_.size(); }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  struct Hash {
    std::size_t operator()(const GroupKey& key) const;
  };

  GroupKey key_of(EventIndex event) {
    GroupKey key{.name = keys_[events_.name[event]], .where = where(event)};
    if (options_.group_by_input_shape) key.shapes = shapes_of(event);
    if (!stack_groups_.empty()) key.stack = stack_of(event);
    if (options_.group_by_overload_name) key.overload = overload_of(event);
    return key;
  }
  std::uint32_t where(EventIndex event) const;
  std::uint32_t shapes_of(EventIndex event);
  std::uint32_t stack_of(EventIndex event) const;
  std::uint32_t overload_of(EventIndex event);
  std::uint32_t add_first_of_name(const GroupKey& key);
  std::uint32_t find(const GroupKey& key);

  const Analysis& analysis_;
  const trace::EventColumns& events_;
  const std::vector<EventNames::Key>& keys_;
  GroupOptions options_;
  const EventStacks* stacks_ = nullptr;
  std::vector<std::uint32_t> stack_groups_;  // by StackId, if stacks matter
  ShapeIds shape_ids_;
  std::size_t input_row_ = 0;
  std::unordered_map<std::string_view, std::uint32_t> overload_ids_;
  std::vector<GroupKey> groups_;
  std::vector<std::uint32_t> last_group_;   // by name: the group its last event was in, right for the next one nearly always
  std::vector<std::uint32_t> first_group_;  // by name
  std::unordered_map<GroupKey, std::uint32_t, Hash> group_ids_;  // without the first of each name: most names have no other
};

inline std::uint32_t Grouping::where(EventIndex event) const {
  const trace::EventKind kind = events_.kind[event];
  const auto type = static_cast<std::uint32_t>(events_.device[event].type);
  const std::uint32_t annotation = is_annotation(kind) ? 0x100 : 0;
  if (trace::is_device_kind(kind)) return 0x200 | annotation | type;
  return annotation | ((events_.flags[event] & trace::kKnownDevice) != 0 ? 0x400 | type : 0);
}

}  // namespace mindtorch::analyze

// Grouping: the less frequent parts of finding the group of an event.
#include "mindtorch/analyze/grouping.h"

#include <algorithm>

namespace mindtorch::analyze {

Grouping::Grouping(const Analysis& analysis, const GroupOptions& options)
    : analysis_(analysis), events_(analysis.recording().events), keys_(analysis.names().keys()), options_(options) {
  last_group_.assign(keys_.size(), kNone);
  first_group_.assign(keys_.size(), kNone);
  groups_.reserve(std::min(keys_.size(), events_.size()));
  if (options.group_by_stack_n > 0 && !analysis.stacks().empty()) {
    stacks_ = &analysis.stacks();
    stack_groups_ = stacks_->group_by_user_frames(static_cast<std::size_t>(options.group_by_stack_n));
  }
}

std::size_t Grouping::Hash::operator()(const GroupKey& key) const {
  std::uint64_t hash = key.name;
  for (const std::uint32_t part : {key.where, key.shapes, key.stack, key.overload}) hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 32);
}

std::uint32_t Grouping::add_first_of_name(const GroupKey& key) {
  const auto group = static_cast<std::uint32_t>(groups_.size());
  groups_.push_back(key);
  return first_group_[key.name] = group;
}

std::uint32_t Grouping::find(const GroupKey& key) {
  if (groups_[first_group_[key.name]] == key) return first_group_[key.name];
  const auto [at, is_new] = group_ids_.emplace(key, static_cast<std::uint32_t>(groups_.size()));
  if (is_new) groups_.push_back(key);
  return at->second;
}

std::uint32_t Grouping::shapes_of(EventIndex event) {
  const trace::SideTable<std::int64_t>& inputs = analysis_.recording().inputs;
  while (input_row_ < inputs.events.size() && inputs.events[input_row_] < event) ++input_row_;
  if (input_row_ == inputs.events.size() || inputs.events[input_row_] != event) return ShapeIds::kEmpty;
  return shape_ids_.id({inputs.values.data() + inputs.offsets[input_row_], inputs.values.data() + inputs.offsets[input_row_ + 1]});
}

std::uint32_t Grouping::stack_of(EventIndex event) const {
  const auto stack = stacks_->of(event);
  return stack ? stack_groups_[*stack] + 1 : 0;
}

std::uint32_t Grouping::overload_of(EventIndex event) {
  const std::string_view overload = analysis_.overload_name(event);
  if (overload.empty()) return 0;
  return overload_ids_.emplace(overload, static_cast<std::uint32_t>(overload_ids_.size() + 1)).first->second;
}

}  // namespace mindtorch::analyze

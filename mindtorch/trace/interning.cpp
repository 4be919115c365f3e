// Storing each distinct name, frame and stack once.
#include "mindtorch/trace/interning.h"

#include <xxhash.h>

#include <algorithm>

namespace mindtorch::trace {

void IdTable::grow() {
  std::vector<Slot> old(std::max<std::size_t>(64, 2 * slots_.size()));
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id_plus_one == 0) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].id_plus_one != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

NameId NameInterner::intern(std::vector<std::string>& names, std::string_view text) {
  const auto find = [&](std::string_view wanted, auto&& add) {
    return table_.find_or_add(
        XXH3_64bits(wanted.data(), wanted.size()), [&](NameId id) { return names[id] == wanted; }, add);
  };
  for (; known_ < names.size(); ++known_) {
    find(names[known_], [&] { return static_cast<NameId>(known_); });
  }
  const NameId id = find(text, [&] {
    names.emplace_back(text);
    return static_cast<NameId>(names.size() - 1);
  });
  known_ = names.size();
  return id;
}

StackId StackInterner::intern(Stacks& stacks, std::span<const Frame> innermost_first) {
  static_assert(sizeof(Frame) == 12, "frames are hashed as bytes: no padding");
  ids_.clear();
  for (const Frame& frame : innermost_first) {
    ids_.push_back(frames_.find_or_add(
        XXH3_64bits(&frame, sizeof frame), [&](std::uint32_t id) { return stacks.frames[id] == frame; },
        [&] {
          stacks.frames.push_back(frame);
          return static_cast<std::uint32_t>(stacks.frames.size() - 1);
        }));
  }
  return stacks_.find_or_add(
      XXH3_64bits(ids_.data(), ids_.size() * sizeof ids_[0]), [&](StackId id) { return std::ranges::equal(stacks.frames_of(id), ids_); },
      [&] {
        stacks.frame_ids.insert(stacks.frame_ids.end(), ids_.begin(), ids_.end());
        stacks.offsets.push_back(static_cast<std::uint32_t>(stacks.frame_ids.size()));
        return static_cast<StackId>(stacks.size() - 1);
      });
}

}  // namespace mindtorch::trace

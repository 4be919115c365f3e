// Storing each distinct name, frame and stack once. The tables are in the Recording; these classes only find entries in them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

// A hash table of 32-bit ids. The caller owns the items and defines equality. Finding a known item does not allocate.
class MINDTORCH_EXPORT IdTable {
 public:
  // The id for which equal(id) holds among those of the same hash; if there is none, stores and returns add().
  template <class Equal, class Add>
  std::uint32_t find_or_add(std::uint64_t hash, Equal&& equal, Add&& add);
  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t id_plus_one = 0;  // 0 = free
  };
  void grow();
  std::vector<Slot> slots_;  // a power of two, at most half full; probed linearly
  std::size_t size_ = 0;
};

// Ids of names. Names that others appended to `names` since the last call are found too.
class MINDTORCH_EXPORT NameInterner {
 public:
  NameId intern(std::vector<std::string>& names, std::string_view text);

 private:
  IdTable table_;
  std::size_t known_ = 0;
};

// Ids of frames and stacks. `stacks` must only ever grow through the same interner.
class MINDTORCH_EXPORT StackInterner {
 public:
  StackId intern(Stacks& stacks, std::span<const Frame> innermost_first);

 private:
  IdTable frames_;
  IdTable stacks_;
  std::vector<std::uint32_t> ids_;  // the stack at hand; kept for its capacity
};

template <class Equal, class Add>
std::uint32_t IdTable::find_or_add(std::uint64_t hash, Equal&& equal, Add&& add) {
  if (2 * (size_ + 1) > slots_.size()) grow();
  const auto short_hash = static_cast<std::uint32_t>(hash >> 32 ^ hash);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = short_hash & mask;
  for (; slots_[at].id_plus_one != 0; at = (at + 1) & mask) {
    if (slots_[at].hash == short_hash && equal(slots_[at].id_plus_one - 1)) return slots_[at].id_plus_one - 1;
  }
  const std::uint32_t id = add();
  slots_[at] = {short_hash, id + 1};
  ++size_;
  return id;
}

}  // namespace mindtorch::trace

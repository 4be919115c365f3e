// Stack leaves: the own time of ops, by name and by the place where they ran. Flame graphs are made of them.
//
// The place of an event is the call stack that was recorded with it or with the innermost event around it. So an op of the backward pass
// is where backward() was called, and not where EventStacks shows it. A thread that runs no Python, such as an autograd thread, is itself
// the place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"

namespace mindtorch::analyze {

struct StackLeaf {
  std::optional<StackId> stack;
  trace::TrackId track = 0;  // if there is no stack
  EventNames::Key op = 0;
  std::int64_t calls = 0;
  std::int64_t self_ns = 0;
  std::int64_t self_device_ns = 0;
  std::int64_t allocated = 0;  // bytes, frees not subtracted
};

// Empty if the recording has no stacks. Steps are left out, with the stacks that say where they began. O(events * log leaves).
std::vector<StackLeaf> stack_leaves(const Analysis& analysis);

// Leaves as lists of texts.
class LeafPaths {
 public:
  explicit LeafPaths(const Analysis& analysis);  // must outlive this

  // The functions from the outermost to the innermost (frame_label()), or the name of the thread; then the op. Valid as long as this.
  std::vector<std::string_view> of(const StackLeaf& leaf) const;

 private:
  const Analysis& analysis_;
  std::vector<std::string> frames_;
  std::vector<std::string> threads_;
};

}  // namespace mindtorch::analyze

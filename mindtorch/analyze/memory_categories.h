// Guesses the purpose of a block of memory from the times and places of its allocation and release. It is asked where neither the host
// tells the purpose nor tensors are identified (tensor_categories.h).
//
//   temporary        freed before the outermost op that allocated it returned, or inside the same optimizer step
//   optimizer state  allocated in a scope "Optimizer.step#...", outlives it
//   gradient         allocated in the backward pass, outlives it
//   autograd detail  allocated in the backward pass, freed in it
//   input            result of an op of the forward pass that took no tensor (record_shapes tells)
//   activation       result of any other op of the forward pass
//   unknown          allocated outside of any op
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::analyze {

class MemoryCategories {
 public:
  explicit MemoryCategories(const Analysis& analysis);

  // `report` allocated the block; `freed_ns` is unset if it outlived the recording.
  trace::MemoryCategory guess(std::size_t report, std::optional<std::int64_t> freed_ns) const;

 private:
  struct Span {
    std::int64_t start_ns;
    std::int64_t end_ns;
  };
  // The events around a node.
  struct Context {
    EventIndex outermost_op = kNoEvent;  // below any scope or autograd node
    EventIndex optimizer_step = kNoEvent;
    bool is_backward = false;
  };

  Context context_of(EventIndex node) const;
  bool is_autograd(EventIndex node) const;
  bool takes_no_tensor(EventIndex op) const;
  void find_backward_passes();
  std::int64_t end_of_backward_pass(std::int64_t time_ns) const;

  const Analysis& analysis_;
  const trace::Recording& recording_;
  const EventTree& tree_;
  std::vector<Span> backward_passes_;  // in order of time
};

}  // namespace mindtorch::analyze

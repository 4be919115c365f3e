// OpFlops: the FLOPs of recorded op calls. Each product is counted once, at the op that torch counts: aten::conv2d and not what it calls,
// and aten::addmm and not the aten::linear that calls it.
#pragma once

#include <cstdint>
#include <vector>

#include "mindtorch/analyze/event_tree.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

class MINDTORCH_EXPORT OpFlops {
 public:
  // O(calls). Nothing is counted unless the recording was made with FLOPs.
  OpFlops(const trace::Recording& recording, const EventTree& tree);

  struct Counted {
    EventIndex event;
    std::int64_t flops;
  };
  // All calls that are counted, in order of events.
  const std::vector<Counted>& all() const { return counted_; }
  // 0 for a call that is not counted. O(log calls).
  std::int64_t of(EventIndex event) const;

 private:
  std::vector<Counted> counted_;
};

}  // namespace mindtorch::analyze

// OpFlops: the FLOPs of each recorded op call.
#pragma once

#include <cstdint>
#include <vector>

#include "mindtorch/analyze/event_names.h"
#include "mindtorch/analyze/flops.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

class MINDTORCH_EXPORT OpFlops {
 public:
  explicit OpFlops(const trace::Recording& recording);

  // False if FLOPs were not asked for: every op then has 0.
  bool enabled() const { return recording_->options.flops; }
  // O(log calls).
  std::int64_t of(EventIndex event) const;
  // Returns all calls with FLOPs, in order of events. O(calls).
  struct Counted {
    EventIndex event;
    std::int64_t flops;
  };
  std::vector<Counted> all() const;

 private:
  std::int64_t count(EventIndex event, std::span<const std::int64_t> words, std::vector<Argument>& arguments) const;

  const trace::Recording* recording_;
  std::vector<FlopFormula> formula_of_name_;
};

}  // namespace mindtorch::analyze

// CallIds: the numbers of calls that execution traces ("rf_id") and Chrome traces ("Record function id") share.
#pragma once

#include <cstdint>
#include <optional>

#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

class CallIds {
 public:
  explicit CallIds(const trace::Recording& recording);

  // The number that the host has given to the call (trace::kCallId), under which its details are kept.
  std::optional<std::uint64_t> given(trace::EventIndex event) const;
  // The same, or the id of the event. Where other calls of the recording have numbers, ids are moved out of their way.
  std::uint64_t of(trace::EventIndex event) const;

 private:
  const trace::Recording& recording_;
  trace::NameId key_ = 0;  // 0: no call has a number
};

}  // namespace mindtorch::exporter

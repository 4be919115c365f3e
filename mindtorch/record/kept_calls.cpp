// The rule of KeptCalls.
#include "mindtorch/record/kept_calls.h"

#include <algorithm>

namespace mindtorch::record {

void KeptCalls::add(const DeviceRecord& call, bool is_inside) {
  if (!trace::is_launch_kind(call.kind) || call.correlation == 0) return;
  if (!is_inside) {
    outside_.insert(call.correlation);
    return;
  }
  first_ = std::min(first_, call.correlation);
  last_ = std::max(last_, call.correlation);
}

void KeptCalls::drop_up_to(std::uint64_t correlation) { dropped_up_to_ = std::max(dropped_up_to_, correlation); }

void KeptCalls::reach(std::uint64_t correlation) { last_ = std::max(last_, correlation); }

bool KeptCalls::keeps(const DeviceRecord& record, bool is_inside) const {
  if (record.correlation == 0) return is_inside;
  // The runtime's call and the driver's inside it share a correlation, and their fate.
  if (record.correlation <= dropped_up_to_ || outside_.contains(record.correlation)) return false;
  if (trace::is_launch_kind(record.kind)) return is_inside;
  if (record.correlation >= first_ && record.correlation <= last_) return true;
  return ends_ == Ends::kOpen && is_inside;
}

}  // namespace mindtorch::record

// Which call made which correlation id.
#include "mindtorch/sources/mspti/call_links.h"

#include <algorithm>
#include <tuple>

namespace mindtorch::sources::mspti {

using record::DeviceRecord;

void keep_ids_of_makers(std::vector<DeviceRecord>& records, const std::unordered_set<std::uint64_t>& ids_of_memory_calls) {
  std::vector<DeviceRecord*> calls;
  for (DeviceRecord& record : records) {
    if (trace::is_launch_kind(record.kind)) calls.push_back(&record);
  }
  // Of calls that end together, the inner one comes first.
  const auto by_thread_and_end = [](const DeviceRecord* a, const DeviceRecord* b) {
    return std::tuple(a->lane, a->end, b->start) < std::tuple(b->lane, b->end, a->start);
  };
  std::ranges::sort(calls, by_thread_and_end);
  const DeviceRecord* before = nullptr;
  std::uint64_t latest = 0;
  for (DeviceRecord* call : calls) {
    const bool is_first = before == nullptr || before->lane != call->lane;
    const bool may_be_old = is_first && !call->launches && !ids_of_memory_calls.contains(call->correlation);
    const bool is_maker = !may_be_old && (is_first || call->correlation != latest);
    before = call;
    latest = call->correlation;
    if (is_maker) continue;
    call->correlation = 0;
    call->launches = false;
  }
}

}  // namespace mindtorch::sources::mspti

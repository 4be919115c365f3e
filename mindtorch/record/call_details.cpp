// One table for all threads: it is used only while an execution trace is collected.
#include "mindtorch/record/call_details.h"

#include <mutex>
#include <utility>

namespace mindtorch::record {
namespace {

struct Kept {
  std::mutex mutex;
  CallDetailsById calls;
};

Kept& kept() {
  static auto& it = *new Kept;  // never destroyed: threads may run ops while static destructors do
  return it;
}

CallValuesOf<std::string> copy_of(const CallValuesOf<std::string_view>& from) {
  return {std::string(from.values), std::string(from.shapes), std::string(from.types), std::string(from.strides)};
}

}  // namespace

std::atomic<CallDetailsState> call_details_state{CallDetailsState::kOff};

void keep_call_inputs(std::uint64_t id, const CallDetailsOf<std::string_view>& details) noexcept try {
  CallDetails copy{copy_of(details.inputs),          copy_of(details.outputs),
                   std::string(details.schema),      std::string(details.kernel_backend),
                   std::string(details.kernel_file), std::string(details.attributes)};
  const std::lock_guard lock(kept().mutex);
  kept().calls.insert_or_assign(id, std::move(copy));
} catch (...) {  // NOLINT(bugprone-empty-catch)
  // Without memory the call has no details.
}

void keep_call_outputs(std::uint64_t id, const CallValuesOf<std::string_view>& outputs) noexcept try {
  const std::lock_guard lock(kept().mutex);
  const auto found = kept().calls.find(id);
  if (found != kept().calls.end()) found->second.outputs = copy_of(outputs);
} catch (...) {  // NOLINT(bugprone-empty-catch)
  // Without memory the call has no results.
}

CallDetailsById take_call_details() {
  const std::lock_guard lock(kept().mutex);
  return std::exchange(kept().calls, {});
}

}  // namespace mindtorch::record

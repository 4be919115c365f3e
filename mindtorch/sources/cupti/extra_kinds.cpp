// The kinds that a user asks for besides device work: environment counters and CUDA events.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mindtorch/sources/cupti/subscription.h"

namespace mindtorch::sources::cupti {

void Subscription::enable_extra_kinds(const record::SourceOptions& options) {
  extra_parts_ = {};
  if (options.extras.environment) enable_extra_kind(kEnvironment, "ENVIRONMENT", "power, clocks and temperature");
  if (options.extras.events) enable_events(options);
}

void Subscription::enable_events(const record::SourceOptions& options) {
  extra_parts_.event_times = tell_event_times(true);
  if (!enable_extra_kind(kCudaEvent, "CUDA_EVENT", "CUDA events")) return;
  if (!extra_parts_.event_times) add_limit("CUDA events have the time of their call, because this CUPTI does not tell that of the device");
  if (options.synchronizations) return;
  // CUPTI tells of events only beside waits, whatever its documentation says of CUDA 12.9 and later.
  extra_parts_.waits = false;
  enable_extra_kind(kSynchronization, "SYNCHRONIZATION", "CUDA events");
}

bool Subscription::enable_extra_kind(std::uint32_t kind, std::string_view name, std::string_view what) {
  const Result result = enable(kind);
  if (result == kSuccess) {
    enabled_.push_back(kind);
    return true;
  }
  const Status refusal = library_.check(result, fmt::format("cuptiActivityEnable({})", name));
  add_limit(fmt::format("{} are not recorded: {}", what, refusal.reason()));
  return false;
}

// Kinds are enabled again whenever collection is toggled; a limit is told once.
void Subscription::add_limit(std::string limit) {
  if (std::ranges::find(limits_, limit) == limits_.end()) limits_.push_back(std::move(limit));
}

}  // namespace mindtorch::sources::cupti

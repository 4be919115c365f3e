// The kinds of a session, and which interface of CUPTI it uses.
#include "mindtorch/sources/cupti/subscription.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "mindtorch/sources/cupti/classic_subscription.h"
#include "mindtorch/sources/cupti/kinds.h"
#include "mindtorch/sources/cupti/shared_subscription.h"

namespace mindtorch::sources::cupti {

Status Subscription::enable_kinds(const record::SourceOptions& options) {
  use_system_thread_ids(true);
  for (const Kind& each : kKinds) {
    if (!is_asked_for(each.kind, options)) continue;
    const Result result = enable(each.kind);
    if (result == kSuccess) {
      enabled_.push_back(each.kind);
    } else if (each.is_required || result == kInsufficientPrivileges) {
      disable_kinds();
      return library_.check(result, fmt::format("cuptiActivityEnable({})", each.name));
    }
  }
  switch_calls_off();
  enable_extra_kinds(options);
  return Status::ok();
}

void Subscription::disable_kinds() {
  disable_device_kinds();
  for (; !enabled_.empty(); enabled_.pop_back()) disable(enabled_.back());
  use_system_thread_ids(false);
}

void Subscription::disable_device_kinds() {
  for (; !enabled_.empty() && !is_kind_of_calls(enabled_.back()); enabled_.pop_back()) disable(enabled_.back());
  if (extra_parts_.event_times) tell_event_times(false);
  extra_parts_.event_times = false;
}

bool Subscription::watch_graph_nodes(Subscriber subscriber) {
  const Functions& cupti = library_.functions();
  for (const std::uint32_t callback : {kGraphNodeCreated, kGraphNodeCloned}) {
    const Status status = library_.check(cupti.cuptiEnableCallback(1, subscriber, kResourceDomain, callback), "cuptiEnableCallback");
    if (status && cupti.cuptiGetGraphNodeId != nullptr) continue;
    limits_.push_back(fmt::format("kernels in CUDA graphs are not linked to the ops that captured them: {}",
                                  status ? "cuptiGetGraphNodeId is missing" : status.reason()));
    return false;
  }
  return true;
}

bool is_classic_forced() {
  const char* records = std::getenv("MINDTORCH_CUPTI_RECORDS");
  return records != nullptr && std::string_view(records) == "classic";
}

OpenedSubscription open_subscription(const Library& library, const SourceCallbacks& callbacks, bool whole_graphs, std::string why_classic) {
  if (why_classic.empty() && is_classic_forced()) why_classic = "MINDTORCH_CUPTI_RECORDS is set";
  if (why_classic.empty() && !library.has_subscriber_functions()) why_classic = "user-defined ones need CUPTI of CUDA 13.3 or later";
  std::string other_subscriber;
  if (why_classic.empty()) {
    auto shared = std::make_unique<SharedSubscription>(library);
    const Status opened = shared->open(callbacks, whole_graphs);
    if (opened) return {.subscription = std::move(shared)};
    why_classic = opened.reason();
    other_subscriber = shared->other_subscriber();
    if (other_subscriber.ends_with("<not provided>")) other_subscriber.clear();  // a tool of the classic interface has no name
  }
  auto classic = std::make_unique<ClassicSubscription>(library, other_subscriber);
  Status opened = classic->open(callbacks, whole_graphs);
  // What the other tool prevents is told by the interface that would have been preferred.
  if (!opened && !other_subscriber.empty())
    opened = Status::unavailable(fmt::format("{} has subscribed: {}", other_subscriber, why_classic));
  if (!opened) return {.status = std::move(opened), .why_classic = std::move(why_classic)};
  return {.subscription = std::move(classic), .why_classic = std::move(why_classic)};
}

}  // namespace mindtorch::sources::cupti

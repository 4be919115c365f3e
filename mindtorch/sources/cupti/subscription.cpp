// The kinds of a session, and which interface of CUPTI it uses.
#include "mindtorch/sources/cupti/subscription.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "mindtorch/sources/cupti/api_names.h"
#include "mindtorch/sources/cupti/classic_subscription.h"
#include "mindtorch/sources/cupti/kinds.h"
#include "mindtorch/sources/cupti/shared_subscription.h"

namespace mindtorch::sources::cupti {

Status Subscription::enable_kinds(const record::SourceOptions& options) {
  use_system_thread_ids(true);
  const bool has_callbacks = enable_call_callbacks();
  for (const Kind& each : kKinds) {
    if (!is_asked_for(each.kind, options) || (has_callbacks && is_kind_of_calls(each.kind))) continue;
    const Result result = enable(each.kind);
    if (result == kSuccess) {
      enabled_.push_back(each.kind);
    } else if (each.is_required || result == kInsufficientPrivileges) {
      disable_kinds();
      return library_.check(result, fmt::format("cuptiActivityEnable({})", each.name));
    }
  }
  if (!has_callbacks) switch_calls_off();
  enable_extra_kinds(options);
  return Status::ok();
}

void Subscription::disable_kinds() {
  disable_device_kinds();
  for (; !enabled_.empty(); enabled_.pop_back()) disable(enabled_.back());
  disable_call_callbacks();
  use_system_thread_ids(false);
}

void Subscription::disable_device_kinds() {
  for (; !enabled_.empty() && !is_kind_of_calls(enabled_.back()); enabled_.pop_back()) disable(enabled_.back());
  if (extra_parts_.event_times) tell_event_times(false);
  extra_parts_.event_times = false;
}

bool Subscription::enable_call_callbacks() {
  const Status enabled = ask_for_call_callbacks();
  why_call_records_ = enabled ? "" : enabled.reason();
  if (!enabled) disable_call_callbacks();
  return static_cast<bool>(enabled);
}

// The same functions that records would tell of.
Status Subscription::ask_for_call_callbacks() {
  const Functions& cupti = library_.functions();
  if (are_call_records_forced()) return Status::unavailable("MINDTORCH_CUPTI_RECORDS asks for them");
  if (subscriber() == nullptr) return Status::unavailable("another tool gets the callbacks");
  if (cupti.cuptiEnableDomain == nullptr) return Status::unavailable("cuptiEnableDomain is missing");
  watches_calls_ = true;
  Status status = library_.check(cupti.cuptiEnableDomain(1, subscriber(), kRuntimeApi), "cuptiEnableDomain");
  if (!status) return status;
  for (const std::uint32_t call : noisy_runtime_calls()) cupti.cuptiEnableCallback(0, subscriber(), kRuntimeApi, call);
  for (const std::uint32_t call : library_.needed_driver_calls()) {
    status = library_.check(cupti.cuptiEnableCallback(1, subscriber(), kDriverApi, call), "cuptiEnableCallback");
    if (!status) return status;
  }
  return Status::ok();
}

void Subscription::disable_call_callbacks() {
  if (!std::exchange(watches_calls_, false)) return;
  library_.functions().cuptiEnableDomain(0, subscriber(), kRuntimeApi);
  library_.functions().cuptiEnableDomain(0, subscriber(), kDriverApi);
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

namespace {

// Among the words of the variable, which have commas between them.
bool is_forced(std::string_view word) {
  const char* const set = std::getenv("MINDTORCH_CUPTI_RECORDS");
  const std::string words = fmt::format(",{},", set != nullptr ? set : "");
  return words.find(fmt::format(",{},", word)) != std::string::npos;
}

}  // namespace

bool is_classic_forced() { return is_forced("classic"); }
bool are_call_records_forced() { return is_forced("calls"); }

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

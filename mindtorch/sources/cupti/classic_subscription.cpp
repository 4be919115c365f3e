// The classic interface of CUPTI.
#include "mindtorch/sources/cupti/classic_subscription.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "mindtorch/sources/cupti/api_names.h"

namespace mindtorch::sources::cupti {

ClassicSubscription::ClassicSubscription(const Library& library, std::string other_subscriber) : Subscription(library) {
  other_subscriber_ = std::move(other_subscriber);
}

ClassicSubscription::~ClassicSubscription() { unsubscribe(); }

Status ClassicSubscription::open(const SourceCallbacks& callbacks, bool /*whole_graphs*/) {
  const Functions& cupti = library_.functions();
  // The activity API works without a subscription; only graph nodes are learned through it.
  subscribe(callbacks);
  // Our buffers are zeroed already: CUPTI need not do it inside a launch.
  if (cupti.cuptiActivitySetAttribute != nullptr) {
    std::uint8_t zeroed = 1;
    std::size_t size = sizeof(zeroed);
    cupti.cuptiActivitySetAttribute(kZeroedOutActivityBuffer, &size, &zeroed);
  }
  return library_.check(cupti.cuptiActivityRegisterCallbacks(callbacks.requested, callbacks.completed), "cuptiActivityRegisterCallbacks");
}

void ClassicSubscription::subscribe(const SourceCallbacks& callbacks) {
  const Functions& cupti = library_.functions();
  std::array<char, 128> other{};
  SubscriberParams params{sizeof(SubscriberParams), "mindtorch", other.data(), other.size()};
  // Where subscribers have an interface of their own, a subscriber of the newer function could not use the classic one.
  const bool has_names = cupti.cuptiSubscribe_v2 != nullptr && !library_.has_subscriber_functions();
  const Result result = has_names ? cupti.cuptiSubscribe_v2(&subscriber_, callbacks.events, callbacks.user, &params)
                                  : cupti.cuptiSubscribe(&subscriber_, callbacks.events, callbacks.user);
  if (result != kSuccess) {
    subscriber_ = nullptr;
    if (other[0] != '\0') other_subscriber_ = other.data();
    const std::string who = other_subscriber_.empty() ? "" : fmt::format(" ({} has subscribed)", other_subscriber_);
    limits_.push_back(fmt::format("kernels in CUDA graphs are not linked to the ops that captured them, and calls take longer{}: {}", who,
                                  library_.check(result, has_names ? "cuptiSubscribe_v2" : "cuptiSubscribe").reason()));
  } else if (!watch_graph_nodes(subscriber_)) {
    unsubscribe();
  }
}

void ClassicSubscription::unsubscribe() {
  if (subscriber_ != nullptr) library_.functions().cuptiUnsubscribe(std::exchange(subscriber_, nullptr));
}

// Kernel thread ids, as our own threads have them; the default are those of pthreads.
void ClassicSubscription::use_system_thread_ids(bool use) {
  const Functions& cupti = library_.functions();
  if (cupti.cuptiSetThreadIdType != nullptr) cupti.cuptiSetThreadIdType(use ? kSystemThreadId : kDefaultThreadId);
}

void ClassicSubscription::switch_calls_off() {
  const Functions& cupti = library_.functions();
  if (cupti.cuptiActivityEnableRuntimeApi != nullptr)
    for (const std::uint32_t call : noisy_runtime_calls()) cupti.cuptiActivityEnableRuntimeApi(call, 0);
  if (cupti.cuptiActivityEnableDriverApi != nullptr)
    for (const std::uint32_t call : library_.unneeded_driver_calls()) cupti.cuptiActivityEnableDriverApi(call, 0);
}

bool ClassicSubscription::tell_event_times(bool tell) {
  const auto set = library_.functions().cuptiActivityEnableCudaEventDeviceTimestamps;
  return set != nullptr && library_.version() >= kFirstVersionWithEventTimes && set(tell ? 1 : 0) == kSuccess;
}

}  // namespace mindtorch::sources::cupti

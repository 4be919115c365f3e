// The interface of CUPTI that belongs to one subscriber.
#include "mindtorch/sources/cupti/shared_subscription.h"

#include <fmt/format.h>

#include <array>

#include "mindtorch/sources/cupti/api_names.h"
#include "mindtorch/sources/cupti/kinds.h"
#include "mindtorch/sources/cupti/record_reader.h"

namespace mindtorch::sources::cupti {

SharedSubscription::~SharedSubscription() {
  // cuptiFinalize() is never called: it would make CUPTI unusable for the other tools of the process.
  if (subscriber_ == nullptr) return;
  clock_owner_->store(nullptr);
  library_.functions().cuptiUnsubscribe(subscriber_);
}

Status SharedSubscription::open(const SourceCallbacks& callbacks, bool whole_graphs) {
  if (Status subscribed = subscribe(callbacks); !subscribed) return subscribed;
  clock_owner_ = callbacks.clock_owner;
  clock_owner_->store(subscriber_);
  if (Status selects = set(kUserDefinedRecords, std::uint8_t{1}, "user-defined records"); !selects) return selects;
  // Kernel thread ids, as our own threads have them; the default are those of pthreads.
  if (Status ids = set(kThreadIdType, std::uint32_t{kSystemThreadId}, "thread ids of the system"); !ids) return ids;
  // Our buffers are zeroed already. A library that does not know this zeroes them once more.
  std::uint8_t zeroed = 1;
  std::size_t size = sizeof(zeroed);
  cupti_.cuptiActivitySetAttribute_v2(subscriber_, kZeroedOutActivityBuffer, &size, &zeroed);
  if (is_shared_) choose_graph_level(whole_graphs);
  watch_graph_nodes(subscriber_);
  return library_.check(cupti_.cuptiActivityRegisterCallbacks_v2(subscriber_, callbacks.shared_requested, callbacks.shared_completed),
                        "cuptiActivityRegisterCallbacks_v2");
}

// Drivers before r610 have one subscriber, and the first subscriber decides for all whether there may be others.
Status SharedSubscription::subscribe(const SourceCallbacks& callbacks) {
  Result result = kSuccess;
  for (const bool shared : {true, false}) {
    std::array<char, 128> other{};
    SharedSubscriberParams params{.struct_size = sizeof(SharedSubscriberParams),
                                  .subscriber_name = "mindtorch",
                                  .old_subscriber_name = other.data(),
                                  .old_subscriber_size = other.size(),
                                  .allow_multiple_subscribers = shared,
                                  .padding = {}};
    result = library_.functions().cuptiSubscribe_v2(&subscriber_, callbacks.events, callbacks.user,
                                                    reinterpret_cast<SubscriberParams*>(&params));
    is_shared_ = shared;
    other_subscriber_ = other.data();
    if (result == kSuccess) return Status::ok();
    subscriber_ = nullptr;
  }
  return library_.check(result, "cuptiSubscribe_v2");
}

template <class Value>
Status SharedSubscription::set(SubscriberAttribute attribute, Value value, std::string_view what) {
  std::size_t size = sizeof(value);
  return library_.check(cupti_.cuptiActivitySetAttribute_v2(subscriber_, attribute, &size, &value),
                        fmt::format("cuptiActivitySetAttribute_v2({})", what));
}

// All subscribers see graphs either node by node or as a whole, and the first one that enables a kind settles it.
void SharedSubscription::choose_graph_level(bool whole_graphs) {
  const std::uint8_t wanted = whole_graphs ? 1 : 0;
  if (set(kEnableMultiSubscriberGraphTrace, wanted, "graphs as a whole")) return;
  std::uint8_t chosen = wanted;
  std::size_t size = sizeof(chosen);
  if (cupti_.cuptiActivityGetAttribute_v2(subscriber_, kEnableMultiSubscriberGraphTrace, &size, &chosen) != kSuccess || chosen == wanted)
    return;
  limits_.push_back(fmt::format("replays of CUDA graphs are recorded {}, because another tool{} has chosen so",
                                whole_graphs ? "kernel by kernel" : "as a whole",
                                other_subscriber_.empty() ? "" : fmt::format(" ({})", other_subscriber_)));
}

Result SharedSubscription::enable(std::uint32_t kind) {
  std::vector<std::int32_t> fields = selected_fields(kind);
  if (fields.empty()) return kNotSupported;
  const bool has_options = library_.version() >= kFirstVersionWithApiOptions;
  ActivityConfig config{.struct_size = has_options ? sizeof(ActivityConfig) : offsetof(ActivityConfig, kind_options),
                        .field_selection = {.struct_size = sizeof(FieldSelection), .num_fields = fields.size(), .field_ids = fields.data()},
                        .kind_options = nullptr};
  return cupti_.cuptiActivityEnable_v2(subscriber_, kind, &config);
}

// One by one: CUPTI 13.4 also takes a list when a kind is enabled, but records no call of the driver at all if the list has a number
// without a name. CUPTI 13.3 need not obey: the decoder leaves such calls out all the same.
void SharedSubscription::switch_calls_off() {
  for (const std::uint32_t call : noisy_runtime_calls()) cupti_.cuptiActivityEnableRuntimeApi_v2(subscriber_, call, 0);
  for (const std::uint32_t call : library_.unneeded_driver_calls()) cupti_.cuptiActivityEnableDriverApi_v2(subscriber_, call, 0);
}

bool SharedSubscription::tell_event_times(bool tell) {
  return static_cast<bool>(set(kEnableCudaEventDeviceTimestamps, static_cast<std::uint8_t>(tell ? 1 : 0), "times of CUDA events"));
}

}  // namespace mindtorch::sources::cupti

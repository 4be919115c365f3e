// SharedSubscription: a subscriber of CUPTI 13.3 or later, with records of selected fields, beside others where the driver permits that.
#pragma once

#include "mindtorch/sources/cupti/subscription.h"

namespace mindtorch::sources::cupti {

class SharedSubscription final : public Subscription {
 public:
  explicit SharedSubscription(const Library& library) : Subscription(library), cupti_(library.subscriber_functions()) {}
  ~SharedSubscription() override;

  Status open(const SourceCallbacks& callbacks, bool whole_graphs) override;
  Result enable(std::uint32_t kind) override;
  Result disable(std::uint32_t kind) override { return cupti_.cuptiActivityDisable_v2(subscriber_, kind, nullptr); }
  Result read_clock(std::uint64_t* ns) const override { return cupti_.cuptiGetTimestamp_v2(subscriber_, ns); }
  Result count_dropped(std::size_t* dropped) const override {
    return cupti_.cuptiActivityGetNumDroppedRecords_v2(subscriber_, nullptr, 0, dropped);
  }
  std::string_view name() const override { return is_shared_ ? "user-defined (other tools may record at the same time)" : "user-defined"; }

 private:
  Status subscribe(const SourceCallbacks& callbacks);
  template <class Value>
  Status set(SubscriberAttribute attribute, Value value, std::string_view what);
  void choose_graph_level(bool whole_graphs);
  void switch_calls_off() override;
  Subscriber subscriber() const override { return subscriber_; }
  bool tell_event_times(bool tell) override;

  const SubscriberFunctions& cupti_;
  Subscriber subscriber_ = nullptr;
  ClockOwner* clock_owner_ = nullptr;
  bool is_shared_ = false;
};

}  // namespace mindtorch::sources::cupti

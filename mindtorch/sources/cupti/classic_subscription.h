// ClassicSubscription: CUPTI's settings for the process, and its fixed records.
#pragma once

#include "mindtorch/sources/cupti/subscription.h"

namespace mindtorch::sources::cupti {

class ClassicSubscription final : public Subscription {
 public:
  // `other_subscriber`: the tool that is known to have subscribed, if any.
  ClassicSubscription(const Library& library, std::string other_subscriber);
  ~ClassicSubscription() override;

  Status open(const SourceCallbacks& callbacks, bool whole_graphs) override;
  Result enable(std::uint32_t kind) override { return library_.functions().cuptiActivityEnable(kind); }
  Result disable(std::uint32_t kind) override { return library_.functions().cuptiActivityDisable(kind); }
  Result read_clock(std::uint64_t* ns) const override { return library_.functions().cuptiGetTimestamp(ns); }
  Result count_dropped(std::size_t* dropped) const override {
    return library_.functions().cuptiActivityGetNumDroppedRecords(nullptr, 0, dropped);
  }
  std::string_view name() const override { return "classic"; }

 private:
  void subscribe(const SourceCallbacks& callbacks);
  void unsubscribe();
  void use_system_thread_ids(bool use) override;
  void switch_calls_off() override;
  Subscriber subscriber() const override { return subscriber_; }
  bool tell_event_times(bool tell) override;

  Subscriber subscriber_ = nullptr;
};

}  // namespace mindtorch::sources::cupti

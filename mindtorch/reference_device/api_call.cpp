// The record of a call.
#include "mindtorch/reference_device/api_call.h"

namespace mindtorch::reference_device {

ApiCall::ApiCall(Driver& driver, const char* name, Length length) noexcept : driver_(driver), name_(name), length_(length) {
  set_ = driver_.collector().enter();
  if (set_.kinds == 0) return;
  start_ = driver_.collector().host_now();
  if (length_ == Length::kWaits) driver_.collector().leave();
}

ApiCall::~ApiCall() {
  if (set_.kinds == 0) return;
  Collector& collector = driver_.collector();
  if (length_ == Length::kWaits) {
    const Collector::Set now = collector.enter();
    if (now.kinds == 0) return;
    if (now.generation != set_.generation) set_.kinds = 0;
  }
  if (collects(kApiActivity)) {
    collector.add(
        ApiActivity{{kApiActivity, sizeof(ApiActivity)}, name_, start_, collector.host_now(), correlation_, current_thread_id(), result_});
  }
  collector.leave();
}

}  // namespace mindtorch::reference_device

// The table of functions.
#include "mindtorch/reference_device/activity_table.h"

namespace mindtorch::reference_device {

const ActivityApi* mindtorch_reference_activity_api() noexcept {
  static constexpr ActivityApi kTable = {
      .subscribe = &subscribe,
      .unsubscribe = &unsubscribe,
      .collect = &collect,
      .flush = &flush,
      .next_record = &next_record,
      .device_count = &device_count,
      .read_clock = &read_clock,
      .clock_rate = &clock_rate,
      .memory_info = &memory_info,
      .synchronize_device = &synchronize_device,
      .default_stream = &default_stream,
      .launch = &launch,
  };
  return &kTable;
}

}  // namespace mindtorch::reference_device

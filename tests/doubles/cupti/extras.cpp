// Records that a client asks for besides device work: measurements of the environment, and CUDA events.
#include <algorithm>

#include "tests/doubles/cupti/api_call.h"
#include "tests/doubles/cupti/exports.h"

namespace {

constexpr std::uint32_t kEventRecord = 135;
constexpr std::uint64_t kDeviceLane = 0;

}  // namespace

DOUBLE_FUNCTION(cuptiActivityEnableCudaEventDeviceTimestamps, (std::uint8_t enable)) {
  RETURN_IF_TOLD_TO_FAIL();
  library().event_times = enable != 0;
  return abi::kSuccess;
}

void cupti_double_measure(const CuptiDoubleMeasurement* measured) {
  abi::EnvironmentRecord record{.kind = abi::kEnvironment, .device_id = measured->device, .environment_kind = measured->environment_kind};
  record.timestamp = measured->time_ns != 0 ? measured->time_ns : library().clock.now();
  std::copy_n(measured->values, std::size(record.data), record.data);
  library().write(library().wanted_by(abi::kEnvironment), kDeviceLane, record_bytes(record, library().version()));
}

std::uint32_t cupti_double_record_event(std::uint32_t stream, std::uint32_t event) {
  library().device.settle();
  const cupti_double::ApiCall call(abi::kRuntimeApi, kEventRecord);
  const std::uint32_t correlation = call.correlation();
  // CUPTI tells of events only beside waits.
  if (library().wanted_by(abi::kSynchronization) != 0) {
    abi::CudaEventRecord record{.kind = abi::kCudaEvent, .correlation_id = correlation, .context_id = 1, .stream_id = stream};
    record.event_id = event;
    if (library().event_times) record.device_timestamp = library().clock.from_monotonic(library().device.end_of_stream(0, stream));
    library().write(library().wanted_by(abi::kCudaEvent), kDeviceLane, record_bytes(record, library().version()));
  }
  return correlation;
}

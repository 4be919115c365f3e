// Decoding of the records that a user asks for besides device work: environment counters and CUDA events.
#include <cstring>

#include "mindtorch/sources/cupti/decode.h"
#include "mindtorch/trace/launches.h"

namespace mindtorch::sources::cupti {
namespace {

using trace::DeviceType;
using trace::EventKind;

constexpr double kMilliwattsPerWatt = 1000;

template <class Data>
Data data_of(const EnvironmentRecord& measurement) {
  Data data;
  std::memcpy(&data, measurement.data, sizeof(data));
  return data;
}

}  // namespace

void Decoder::add(const EnvironmentRecord& measurement) {
  const trace::Device device{DeviceType::kCuda, static_cast<std::uint8_t>(measurement.device_id)};
  const auto sample = [&](std::string_view name, std::string_view unit, double value) {
    store_.store_sample(batch_.counter_id(name, unit, device), measurement.timestamp, value);
  };
  switch (measurement.environment_kind) {
    case kSpeed: {
      const auto speed = data_of<EnvironmentSpeed>(measurement);
      sample("SM clock", "MHz", speed.sm_clock);
      sample("memory clock", "MHz", speed.memory_clock);
      break;
    }
    case kTemperature: sample("temperature", "C", measurement.data[0]); break;
    case kPower: {
      const auto power = data_of<EnvironmentPower>(measurement);
      sample("power", "W", power.power / kMilliwattsPerWatt);
      sample("power limit", "W", power.power_limit / kMilliwattsPerWatt);
      break;
    }
    case kCooling: sample("fan speed", "%", measurement.data[0]); break;
    default: store_.count_unknown();
  }
}

void Decoder::add(const CudaEventRecord& event) {
  const std::vector<trace::Attribute> row = {batch_.attribute("context", std::int64_t{event.context_id}),
                                             batch_.attribute("event id", std::int64_t{event.event_id})};
  record::DeviceRecord record{.correlation = event.correlation_id,
                              .name = batch_.name_id("Event Record"),
                              .detail = batch_.details.add(row),
                              .lane = static_cast<std::int32_t>(event.stream_id),
                              .kind = EventKind::kSync,
                              .device = {DeviceType::kCuda, 0}};
  if (extra_parts_.event_times && event.device_timestamp != 0) {
    record.device.index = static_cast<std::uint8_t>(event.device_id);
    record.start = record.end = event.device_timestamp;
    store_.store(record);
  } else {
    events_without_time_.push_back(record);
  }
}

// An event that has no time of the device is placed where the call that recorded it ended.
void Decoder::place_events_at_their_calls() {
  if (events_without_time_.empty()) return;
  trace::LaunchIndex calls = store_.index_calls();
  std::erase_if(events_without_time_, [&](record::DeviceRecord event) {
    const std::uint32_t call = calls.find(event.correlation);
    if (call == trace::LaunchIndex::kNone) return false;
    event.start = event.end = batch_.records[call].end;
    event.clock = batch_.records[call].clock;
    store_.store(event);
    return true;
  });
}

}  // namespace mindtorch::sources::cupti

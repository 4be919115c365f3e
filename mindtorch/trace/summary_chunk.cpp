// The chunk that describes how a recording was made: options, metadata, losses, baselines, clocks.
#include "mindtorch/trace/summary_chunk.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mindtorch/base/text.h"

namespace mindtorch::trace {
namespace {

constexpr std::uint64_t kIdLimit = std::uint64_t{1} << 62;  // ids of events are signed for readers

void encode_device(Device device, ByteWriter& out) {
  out.u8(static_cast<std::uint8_t>(device.type));
  out.u8(device.index);
}

Device decode_device(ByteReader& in) {
  const auto type = static_cast<DeviceType>(in.u8());
  return {type, in.u8()};
}

void encode_options(const RecordedOptions& options, ByteWriter& out) {
  out.u8(static_cast<std::uint8_t>(options.shapes | options.stacks << 1 | options.memory << 2 | options.flops << 3 | options.modules << 4));
  out.number(options.activities.size());
  for (const DeviceType type : options.activities) out.u8(static_cast<std::uint8_t>(type));
}

RecordedOptions decode_options(ByteReader& in) {
  RecordedOptions options;
  const std::uint8_t bits = in.u8();
  options.shapes = bits & 1;
  options.stacks = bits & 2;
  options.memory = bits & 4;
  options.flops = bits & 8;
  options.modules = bits & 16;
  options.activities.resize(in.count());
  for (DeviceType& type : options.activities) type = static_cast<DeviceType>(in.u8());
  return options;
}

void encode_clock_info(const ClockInfo& clock, ByteWriter& out) {
  out.signed_number(clock.base_unix_ns);
  out.signed_number(clock.start_ns);
  out.signed_number(clock.end_ns);
  out.number(clock.domains.size());
  for (const ClockDomain& domain : clock.domains) {
    out.text(domain.name);
    out.real(domain.ticks_per_second);
    out.signed_number(domain.error_bound_ns);
    out.number(domain.samples);
  }
}

ClockInfo decode_clock_info(ByteReader& in) {
  ClockInfo clock;
  clock.base_unix_ns = in.signed_number();
  clock.start_ns = in.signed_number();
  clock.end_ns = in.signed_number();
  for (std::size_t n = in.count(); n > 0; --n) {
    in.room_for<ClockDomain>(1);
    ClockDomain& domain = clock.domains.emplace_back();
    domain.name = in.text();
    domain.ticks_per_second = in.real();
    domain.error_bound_ns = in.signed_number();
    domain.samples = in.number();
  }
  return clock;
}

void encode_losses(const std::vector<Loss>& losses, ByteWriter& out) {
  out.number(losses.size());
  for (const Loss& loss : losses) {
    out.u8(static_cast<std::uint8_t>(loss.reason));
    out.number(loss.count);
    out.text(loss.where);
    out.text(loss.detail);
  }
}

std::vector<Loss> decode_losses(ByteReader& in) {
  std::vector<Loss> losses;
  for (std::size_t n = in.count(); n > 0; --n) {
    in.room_for<Loss>(1);
    Loss& loss = losses.emplace_back();
    loss.reason = static_cast<LossReason>(in.u8());
    loss.count = in.number();
    loss.where = in.text();
    loss.detail = in.text();
  }
  return losses;
}

std::vector<MemoryBaseline> decode_baselines(ByteReader& in) {
  std::vector<MemoryBaseline> baselines;
  for (std::size_t n = in.count(); n > 0; --n) {
    in.room_for<MemoryBaseline>(1);
    const Device device = decode_device(in);
    const std::int64_t allocated = in.signed_number();
    baselines.push_back({device, allocated, in.signed_number()});
  }
  return baselines;
}

void encode_device_properties(const std::vector<DeviceProperties>& devices, ByteWriter& out) {
  out.number(devices.size());
  for (const DeviceProperties& properties : devices) {
    encode_device(properties.device, out);
    out.text(properties.name);
    out.number(properties.numbers.size());
    for (const auto& [key, value] : properties.numbers) {
      out.text(key);
      out.signed_number(value);
    }
  }
}

std::vector<DeviceProperties> decode_device_properties(ByteReader& in) {
  std::vector<DeviceProperties> devices;
  for (std::size_t n = in.count(); n > 0; --n) {
    in.room_for<DeviceProperties>(1);
    DeviceProperties& properties = devices.emplace_back();
    properties.device = decode_device(in);
    properties.name = in.text();
    for (std::size_t numbers = in.count(); numbers > 0; --numbers) {
      in.room_for<DeviceProperty>(1);
      std::string key(in.text());
      properties.numbers.push_back({std::move(key), in.signed_number()});
    }
  }
  return devices;
}

std::map<std::string, std::string> decode_metadata(ByteReader& in) {
  std::map<std::string, std::string> metadata;
  for (std::size_t n = in.count(); n > 0; --n) {
    in.room_for<std::pair<std::string, std::string>>(1);
    std::string key(in.text());
    std::string value(in.text());
    if (!is_json(value)) throw Malformed("metadata is not JSON");
    metadata.insert_or_assign(std::move(key), std::move(value));
  }
  return metadata;
}

}  // namespace

void encode_summary(const Recording& recording, ByteWriter& out) {
  encode_options(recording.options, out);
  encode_clock_info(recording.clock, out);
  out.text(recording.trace_id);
  out.number(recording.metadata.size());
  for (const auto& [key, value] : recording.metadata) {
    out.text(key);
    out.text(value);
  }
  encode_losses(recording.losses, out);
  out.number(recording.memory_baselines.size());
  for (const MemoryBaseline& baseline : recording.memory_baselines) {
    encode_device(baseline.device, out);
    out.signed_number(baseline.allocated);
    out.signed_number(baseline.reserved);
  }
  encode_device_properties(recording.devices, out);
  out.number(recording.first_id);
  out.signed_number(recording.options.sampling_interval_ns);
}

void decode_summary(ByteReader& in, Recording& into, std::uint8_t minor) {
  RecordedOptions options = decode_options(in);
  ClockInfo clock = decode_clock_info(in);
  std::string trace_id(in.text());
  auto metadata = decode_metadata(in);
  std::vector<Loss> losses = decode_losses(in);
  std::vector<MemoryBaseline> baselines = decode_baselines(in);
  std::vector<DeviceProperties> devices = minor == 0 ? std::vector<DeviceProperties>() : decode_device_properties(in);
  const std::uint64_t first_id = minor < 3 ? 1 : in.number_below(kIdLimit, "an id");
  options.sampling_interval_ns = minor < 5 ? 0 : in.signed_number();
  into.devices = std::move(devices);
  into.first_id = first_id;
  into.memory_baselines = std::move(baselines);
  into.options = std::move(options);
  into.clock = std::move(clock);
  into.trace_id = std::move(trace_id);
  into.metadata = std::move(metadata);
  into.losses = std::move(losses);
}

}  // namespace mindtorch::trace

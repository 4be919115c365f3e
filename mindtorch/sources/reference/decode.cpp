// One record after the other, kind by kind.
#include "mindtorch/sources/reference/decode.h"

#include <fmt/core.h>

#include <string>
#include <utility>

namespace mindtorch::sources {
namespace device = reference_device;
using trace::EventKind;

namespace {

const char* copy_name(device::CopyKind kind) {
  switch (kind) {
    case device::CopyKind::kHostToDevice: return "Memcpy HtoD (Pageable -> Device)";
    case device::CopyKind::kDeviceToHost: return "Memcpy DtoH (Device -> Pageable)";
    case device::CopyKind::kDeviceToDevice: return "Memcpy DtoD (Device -> Device)";
  }
  return "Memcpy";
}

std::int64_t as_value(std::uint64_t number) { return static_cast<std::int64_t>(number); }

}  // namespace

ReferenceDecoder::ReferenceDecoder() {
  batch_.clocks.push_back({.name = "session", .is_session_clock = true});
  for (int i = 0; i < device::device_count(); ++i) {
    record::SourceClock clock{.name = fmt::format("reference-npu:{}", i)};
    static_cast<void>(device::clock_rate(i, &clock.nominal_ticks_per_ns));  // keeps 1 if the device is gone
    batch_.clocks.push_back(std::move(clock));
    std::size_t free = 0, total = 0;
    if (device::memory_info(i, &free, &total) == device::Result::kSuccess)
      batch_.devices.push_back({.device = {trace::DeviceType::kNpu, static_cast<std::uint8_t>(i)},
                                .name = "reference NPU",
                                .numbers = {{"totalGlobalMem", as_value(total)}}});
  }
}

void ReferenceDecoder::set_samples(std::vector<std::vector<record::BracketedSample>> samples) {
  for (std::size_t i = 0; i < samples.size() && 1 + i < batch_.clocks.size(); ++i) batch_.clocks[1 + i].samples = std::move(samples[i]);
}

void ReferenceDecoder::decode(const std::uint8_t* buffer, std::size_t valid) {
  const device::Activity* next = nullptr;
  while ((next = device::next_record(buffer, valid, next)) != nullptr) {
    switch (next->kind) {
      case device::kApiActivity: add(static_cast<const device::ApiActivity&>(*next)); break;
      case device::kKernelActivity: {
        const auto& kernel = static_cast<const device::KernelActivity&>(*next);
        add(kernel, {.name = batch_.name_id(kernel.name), .kind = EventKind::kKernel});
        break;
      }
      case device::kMemcpyActivity: {
        const auto& copy = static_cast<const device::MemcpyActivity&>(*next);
        add(copy, {.name = batch_.name_id(copy_name(copy.direction)),
                   .detail = detail({batch_.attribute("bytes", as_value(copy.size))}),
                   .kind = EventKind::kMemcpy});
        break;
      }
      case device::kMemsetActivity: {
        const auto& set = static_cast<const device::MemsetActivity&>(*next);
        add(set, {.name = batch_.name_id("Memset (Device)"),
                  .detail = detail({batch_.attribute("bytes", as_value(set.size)), batch_.attribute("value", std::int64_t{set.value})}),
                  .kind = EventKind::kMemset});
        break;
      }
      case device::kWaitActivity:
        add(static_cast<const device::WaitActivity&>(*next), {.name = batch_.name_id("Stream Wait Event"), .kind = EventKind::kSync});
        break;
      default: ++unknown_;
    }
  }
}

std::uint32_t ReferenceDecoder::detail(std::initializer_list<trace::Attribute> row) { return batch_.details.add(std::span(row)); }

void ReferenceDecoder::add(const device::ApiActivity& activity) {
  record::DeviceRecord record{.kind = EventKind::kRuntime, .clock = 0, .device = {trace::DeviceType::kNpu, 0}};
  record.lane = static_cast<std::int32_t>(activity.thread_id);
  record.start = activity.start;
  record.end = activity.end;
  record.correlation = activity.correlation;
  record.launches = activity.correlation != 0;
  record.name = batch_.name_id(activity.name);
  if (activity.result != device::Result::kSuccess)
    record.detail = detail({batch_.attribute("result", static_cast<std::int64_t>(activity.result))});
  batch_.records.push_back(record);
}

void ReferenceDecoder::add(const device::DeviceActivity& activity, record::DeviceRecord record) {
  if (activity.start == 0 && activity.end == 0) {
    ++without_time_;
    return;
  }
  record.clock = static_cast<std::uint8_t>(1 + activity.device);
  record.device = {trace::DeviceType::kNpu, static_cast<std::uint8_t>(activity.device)};
  record.lane = static_cast<std::int32_t>(activity.stream);
  record.start = activity.start;
  record.end = activity.end;
  record.correlation = activity.correlation;
  batch_.records.push_back(record);
}

record::DeviceBatch ReferenceDecoder::finish() {
  batch_.count_dropped(dropped_by_device_, "dropped by the device's collector");
  batch_.count_dropped(without_time_, "came without a time");
  batch_.count_dropped(unknown_, "of an unknown kind");
  return std::move(batch_);
}

}  // namespace mindtorch::sources

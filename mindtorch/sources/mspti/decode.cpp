// One record after the other, kind by kind.
#include "mindtorch/sources/mspti/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace mindtorch::sources::mspti {
namespace {

using trace::DeviceType;
using trace::EventKind;

std::int64_t as_value(std::uint64_t number) { return static_cast<std::int64_t>(number); }

const char* copy_name(std::uint32_t kind) {
  switch (kind) {
    case kHostToHost: return "Memcpy HtoH";
    case kHostToDevice: return "Memcpy HtoD";
    case kDeviceToHost: return "Memcpy DtoH";
    case kDeviceToDevice: return "Memcpy DtoD";
    default: return "Memcpy";
  }
}

// msptiCommunicationDataType, with torch's names where torch has the type.
struct DataType {
  std::string_view name;
  std::uint64_t bytes;
};
DataType data_type(std::uint32_t type) {
  constexpr std::array<DataType, 18> kTypes = {{{"Char", 1},
                                                {"Short", 2},
                                                {"Int", 4},
                                                {"Half", 2},
                                                {"Float", 4},
                                                {"Long", 8},
                                                {"UInt64", 8},
                                                {"Byte", 1},
                                                {"UInt16", 2},
                                                {"UInt32", 4},
                                                {"Double", 8},
                                                {"BFloat16", 2},
                                                {"INT128", 16},
                                                {"", 0},
                                                {"HIF8", 1},
                                                {"Float8_e4m3fn", 1},
                                                {"Float8_e5m2", 1},
                                                {"FP8E8M0", 1}}};
  return type < kTypes.size() ? kTypes[type] : DataType{"", 0};
}

// Calls that make a kernel run.
bool is_launch_name(std::string_view name) {
  return name.find("LaunchKernel") != std::string_view::npos || name.find("KernelLaunch") != std::string_view::npos;
}

template <class Record>
Record read(const std::uint8_t* bytes) {
  Record record;
  std::memcpy(&record, bytes, sizeof record);
  return record;
}

}  // namespace

std::vector<std::uint32_t> parse_visible_devices(std::string_view list) {
  std::vector<std::uint32_t> devices;
  while (!list.empty()) {
    std::uint32_t device = 0;
    const auto [end, error] = std::from_chars(list.data(), list.data() + list.size(), device);
    if (error == std::errc()) devices.push_back(device);
    const std::size_t comma = list.find(',');
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return devices;
}

Decoder::Decoder(const Functions& mspti, std::int64_t record_bytes) : store_(record_bytes) {
  for (std::uint32_t kind = 0; kind < sizes_.size(); ++kind) {
    sizes_[kind] = record_size(kind);
    // A later version may append members.
    std::size_t stated = 0;
    if (mspti.msptiActivityGetStructSize != nullptr && mspti.msptiActivityGetStructSize(kind, 0, &stated) == kSuccess)
      sizes_[kind] = std::max(sizes_[kind], stated);
  }
  const char* visible = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
  if (visible != nullptr) visible_devices_ = parse_visible_devices(visible);
}

void Decoder::decode(const std::uint8_t* buffer, std::size_t valid) {
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= valid;) {
    const auto kind = read<std::uint32_t>(buffer + at);
    const std::size_t size = kind < sizes_.size() ? sizes_[kind] : 0;
    // The size of an unknown record is unknown too, so the rest of the buffer cannot be read. The number of records in it is unknown.
    if (size == 0 || at + size > valid) return store_.count_unknown();
    add(buffer + at, kind);
    at += size;
  }
}

void Decoder::add(const std::uint8_t* record, std::uint32_t kind) {
  switch (kind) {
    case kKernel: return add(read<KernelRecord>(record));
    case kApi:
    case kRuntimeApi: return add(read<ApiRecord>(record));
    case kHccl: return add(read<HcclRecord>(record));
    case kMemory: return memory_.push_back(read<MemoryRecord>(record));
    case kMemset: return add(read<MemsetRecord>(record));
    case kMemcpy: return add(read<MemcpyRecord>(record));
    case kCommunication: return add(read<CommunicationRecord>(record));
    case kMarker: return add(read<MarkerRecord>(record));
    default: return store_.count_unknown();
  }
}

void Decoder::add(const KernelRecord& kernel) {
  add_work(EventKind::kKernel, kernel.start, kernel.end, kernel.correlation_id, kernel.device_id, kernel.stream_id, name_id(kernel.name),
           detail({batch_.text_attribute("type", kernel.type != nullptr ? kernel.type : "")}), false);
}

void Decoder::add(const ApiRecord& call) {
  const char* name = call.name != nullptr ? call.name : "runtime call";
  const record::DeviceRecord record{.start = call.start,
                                    .end = call.end,
                                    .correlation = call.correlation_id,
                                    .name = name_id(name),
                                    .lane = static_cast<std::int32_t>(call.thread_id),
                                    .kind = EventKind::kRuntime,
                                    .device = {DeviceType::kNpu, 0},
                                    .launches = call.correlation_id != 0 && is_launch_name(name)};
  if (!is_left_out(record)) store_.store(record);
}

void Decoder::add(const HcclRecord& transfer) {
  const double bandwidth = transfer.bandwidth;
  const char* group = transfer.communicator;
  add_work(
      EventKind::kCollective, transfer.start, transfer.end, 0, transfer.device_id, transfer.stream_id, name_id(transfer.name),
      detail({batch_.text_attribute("Process Group Name", group != nullptr ? group : ""), batch_.attribute("bandwidth (GB/s)", bandwidth)}),
      false);
}

void Decoder::add(const CommunicationRecord& collective) {
  const DataType type = data_type(collective.data_type);
  const char* algorithm = collective.algorithm;
  const char* group = collective.communicator;
  add_work(EventKind::kCollective, collective.start, collective.end, collective.correlation_id, collective.device_id, collective.stream_id,
           name_id(collective.name),
           detail({batch_.text_attribute("Process Group Name", group != nullptr ? group : ""), batch_.text_attribute("dtype", type.name),
                   batch_.attribute("In msg nelems", as_value(collective.count)),
                   batch_.attribute("bytes", as_value(collective.count * type.bytes)),
                   batch_.text_attribute("algorithm", algorithm != nullptr ? algorithm : "")}),
           false);
}

void Decoder::add(const MemcpyRecord& copy) {
  add_work(EventKind::kMemcpy, copy.start, copy.end, copy.correlation_id, copy.device_id, copy.stream_id,
           batch_.name_id(copy_name(copy.copy_kind)),
           detail({batch_.attribute("bytes", as_value(copy.bytes)), batch_.text_attribute("timing", "host")}), true);
}

void Decoder::add(const MemsetRecord& set) {
  add_work(EventKind::kMemset, set.start, set.end, set.correlation_id, set.device_id, set.stream_id, batch_.name_id("Memset (Device)"),
           detail({batch_.attribute("bytes", as_value(set.bytes)), batch_.attribute("value", as_value(set.value)),
                   batch_.text_attribute("timing", "host")}),
           true);
}

void Decoder::add(const MarkerRecord& record) {
  const std::uint64_t id = record.id;  // a reference to a field of a packed record may be misaligned
  Marker& marker = markers_[id];
  const bool is_end = (record.flag & (kRangeEnd | kRangeEndWithDevice)) != 0;
  marker.is_range = marker.is_range || is_end || (record.flag & (kRangeStart | kRangeStartWithDevice)) != 0;
  Range& range = record.source == kFromDevice ? marker.device : marker.host;
  (is_end ? range.end : range.start) = record.timestamp;
  if (is_end) return;  // its names are empty
  range.place[0] = record.process_or_device;
  range.place[1] = record.thread_or_stream;
  if (record.source == kFromDevice) return;
  if (record.name != nullptr) marker.name = record.name;
  if (record.domain != nullptr) marker.domain = record.domain;
}

void Decoder::add_work(EventKind kind, std::uint64_t start, std::uint64_t end, std::uint64_t correlation, std::uint32_t device_id,
                       std::uint32_t stream, std::uint32_t name, std::uint32_t detail, bool has_host_times) {
  const int device = device_index(device_id);
  if (correlation >= first_id_after_) return;
  store_.store_work({.start = start,
                     .end = end,
                     .correlation = correlation,
                     .name = name,
                     .detail = detail,
                     .lane = stream == kNoStream ? 0 : static_cast<std::int32_t>(stream),
                     .kind = kind,
                     .clock = has_host_times ? std::uint8_t{0} : static_cast<std::uint8_t>(1 + device),
                     .device = {DeviceType::kNpu, static_cast<std::uint8_t>(device)}});
}

bool Decoder::is_left_out(const record::DeviceRecord& record) {
  if (!trace::is_launch_kind(record.kind)) return record.correlation >= first_id_after_;
  const bool is_after = record.start > end_;
  if (!is_after)
    last_id_inside_ = std::max(last_id_inside_, record.correlation);
  else if (record.launches && record.correlation > last_id_inside_)
    first_id_after_ = std::min(first_id_after_, record.correlation);
  return is_after;
}

void Decoder::leave_out_after(std::uint64_t end) {
  end_ = end;
  std::erase_if(batch_.records, [this](const record::DeviceRecord& record) { return is_left_out(record); });
}

// Records have the number of the device on the machine.
int Decoder::device_index(std::uint32_t device_id) {
  const auto found = std::ranges::find(visible_devices_, device_id);
  const auto index =
      found != visible_devices_.end() ? static_cast<int>(found - visible_devices_.begin()) : static_cast<int>(device_id & 0x7F);
  devices_.insert(index);
  return index;
}

// Texts exist until the process ends, so that an address stands for one text.
std::uint32_t Decoder::name_id(const char* text) {
  if (text == nullptr) return batch_.name_id("unknown");
  const auto [at, is_new] = names_.try_emplace(text, 0);
  if (is_new) at->second = batch_.name_id(text);
  return at->second;
}

std::uint32_t Decoder::detail(std::initializer_list<trace::Attribute> row) { return batch_.details.add(std::span(row)); }

}  // namespace mindtorch::sources::mspti

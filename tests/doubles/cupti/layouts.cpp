// The fields of records that the double knows, and where a buffer has them.
#include "tests/doubles/cupti/layouts.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <random>

namespace cupti_double {
namespace {

using Field = BufferLayouts::Field;

#define FIELD(number, record, member)                                                                            \
  {                                                                                                              \
    .id = number, .classic_offset = offsetof(abi::record, member), .classic_bytes = sizeof(abi::record::member), \
    .bytes = sizeof(abi::record::member)                                                                         \
  }
// Has 64 bits here and 32 in classic records.
#define WIDE_FIELD(number, record, member, is_correlation_id)                                                                \
  {                                                                                                                          \
    .id = number, .classic_offset = offsetof(abi::record, member), .classic_bytes = sizeof(abi::record::member), .bytes = 8, \
    .is_correlation = is_correlation_id                                                                                      \
  }

const std::vector<Field> kKernel = {
    FIELD(0, KernelRecord, kind),
    FIELD(4, KernelRecord, registers_per_thread),
    FIELD(7, KernelRecord, start),
    FIELD(8, KernelRecord, end),
    FIELD(9, KernelRecord, completed),
    FIELD(10, KernelRecord, device_id),
    FIELD(11, KernelRecord, context_id),
    FIELD(12, KernelRecord, stream_id),
    FIELD(13, KernelRecord, grid_x),
    FIELD(14, KernelRecord, grid_y),
    FIELD(15, KernelRecord, grid_z),
    FIELD(16, KernelRecord, block_x),
    FIELD(17, KernelRecord, block_y),
    FIELD(18, KernelRecord, block_z),
    FIELD(19, KernelRecord, static_shared_memory),
    FIELD(20, KernelRecord, dynamic_shared_memory),
    WIDE_FIELD(22, KernelRecord, correlation_id, true),
    FIELD(24, KernelRecord, name),
    FIELD(31, KernelRecord, graph_node_id),
    FIELD(33, KernelRecord, graph_id),
};
const std::vector<Field> kMemcpy = {
    FIELD(0, MemcpyRecord, kind),           FIELD(1, MemcpyRecord, copy_kind),
    FIELD(2, MemcpyRecord, source_kind),    FIELD(3, MemcpyRecord, destination_kind),
    FIELD(4, MemcpyRecord, flags),          FIELD(5, MemcpyRecord, bytes),
    FIELD(6, MemcpyRecord, start),          FIELD(7, MemcpyRecord, end),
    FIELD(8, MemcpyRecord, device_id),      FIELD(9, MemcpyRecord, context_id),
    FIELD(10, MemcpyRecord, stream_id),     WIDE_FIELD(11, MemcpyRecord, correlation_id, true),
    FIELD(12, MemcpyRecord, graph_node_id), FIELD(13, MemcpyRecord, graph_id),
};
const std::vector<Field> kPeerCopy = {
    FIELD(0, PeerCopyRecord, kind),
    FIELD(1, PeerCopyRecord, copy_kind),
    FIELD(2, PeerCopyRecord, source_kind),
    FIELD(3, PeerCopyRecord, destination_kind),
    FIELD(4, PeerCopyRecord, flags),
    FIELD(5, PeerCopyRecord, bytes),
    FIELD(6, PeerCopyRecord, start),
    FIELD(7, PeerCopyRecord, end),
    FIELD(8, PeerCopyRecord, device_id),
    FIELD(9, PeerCopyRecord, context_id),
    FIELD(10, PeerCopyRecord, stream_id),
    FIELD(11, PeerCopyRecord, source_device_id),
    FIELD(13, PeerCopyRecord, destination_device_id),
    WIDE_FIELD(15, PeerCopyRecord, correlation_id, true),
    FIELD(16, PeerCopyRecord, graph_node_id),
    FIELD(17, PeerCopyRecord, graph_id),
};
const std::vector<Field> kMemset = {
    FIELD(0, MemsetRecord, kind),       FIELD(1, MemsetRecord, value),        FIELD(2, MemsetRecord, bytes),
    FIELD(3, MemsetRecord, start),      FIELD(4, MemsetRecord, end),          FIELD(5, MemsetRecord, device_id),
    FIELD(6, MemsetRecord, context_id), FIELD(7, MemsetRecord, stream_id),    WIDE_FIELD(8, MemsetRecord, correlation_id, true),
    FIELD(9, MemsetRecord, flags),      FIELD(10, MemsetRecord, memory_kind), FIELD(11, MemsetRecord, graph_node_id),
    FIELD(12, MemsetRecord, graph_id),
};
const std::vector<Field> kCall = {
    FIELD(0, ApiRecord, kind),
    FIELD(1, ApiRecord, callback_id),
    FIELD(2, ApiRecord, start),
    FIELD(3, ApiRecord, end),
    FIELD(4, ApiRecord, process_id),
    WIDE_FIELD(5, ApiRecord, thread_id, false),
    WIDE_FIELD(6, ApiRecord, correlation_id, true),
    FIELD(7, ApiRecord, return_value),
};
const std::vector<Field> kOverhead = {
    FIELD(0, OverheadRecord, kind),
    FIELD(1, OverheadRecord, overhead_kind),
    FIELD(4, OverheadRecord, start),
    FIELD(5, OverheadRecord, end),
};
const std::vector<Field> kWait = {
    FIELD(0, SynchronizationRecord, kind),
    FIELD(1, SynchronizationRecord, type),
    FIELD(2, SynchronizationRecord, start),
    FIELD(3, SynchronizationRecord, end),
    WIDE_FIELD(4, SynchronizationRecord, correlation_id, true),
    FIELD(5, SynchronizationRecord, context_id),
    FIELD(6, SynchronizationRecord, stream_id),
    FIELD(7, SynchronizationRecord, cuda_event_id),
};
const std::vector<Field> kGraphReplay = {
    FIELD(0, GraphTraceRecord, kind),       WIDE_FIELD(1, GraphTraceRecord, correlation_id, true),
    FIELD(2, GraphTraceRecord, start),      FIELD(3, GraphTraceRecord, end),
    FIELD(4, GraphTraceRecord, device_id),  FIELD(5, GraphTraceRecord, graph_id),
    FIELD(6, GraphTraceRecord, context_id), FIELD(7, GraphTraceRecord, stream_id),
};
const std::vector<Field> kMeasurement = {
    FIELD(0, EnvironmentRecord, kind),      FIELD(1, EnvironmentRecord, device_id),
    FIELD(2, EnvironmentRecord, timestamp), FIELD(3, EnvironmentRecord, environment_kind),
    FIELD(4, EnvironmentRecord, data),
};
const std::vector<Field> kRecordedEvent = {
    FIELD(0, CudaEventRecord, kind),
    WIDE_FIELD(1, CudaEventRecord, correlation_id, true),
    FIELD(2, CudaEventRecord, context_id),
    FIELD(3, CudaEventRecord, stream_id),
    FIELD(4, CudaEventRecord, event_id),
    FIELD(5, CudaEventRecord, device_id),
    FIELD(6, CudaEventRecord, device_timestamp),
    FIELD(7, CudaEventRecord, cuda_event_sync_id),
};
#undef FIELD
#undef WIDE_FIELD

const std::vector<Field>* fields_of(std::uint32_t kind) {
  switch (kind) {
    case abi::kConcurrentKernel: return &kKernel;
    case abi::kMemcpy: return &kMemcpy;
    case abi::kMemcpyPeer: return &kPeerCopy;
    case abi::kMemset: return &kMemset;
    case abi::kRuntime:
    case abi::kDriver: return &kCall;
    case abi::kOverhead: return &kOverhead;
    case abi::kSynchronization: return &kWait;
    case abi::kGraphTrace: return &kGraphReplay;
    case abi::kEnvironment: return &kMeasurement;
    case abi::kCudaEvent: return &kRecordedEvent;
    default: return nullptr;
  }
}

std::size_t rounded_up(std::size_t size, std::size_t alignment) { return (size + alignment - 1) / alignment * alignment; }

// A structure inside of a record is aligned as its members are.
std::size_t alignment_of(std::size_t bytes) { return std::size_t{1} << std::countr_zero(bytes); }

// Without random numbers as the vendor's documentation says: in the order of the fields, each aligned by its size.
BufferLayouts::OfKind placed(std::vector<Field> fields, std::mt19937_64* random) {
  BufferLayouts::OfKind layout;
  if (random != nullptr) std::shuffle(fields.begin() + 1, fields.end(), *random);  // the kind stays first
  for (Field& field : fields) {
    const std::size_t gap = random != nullptr && &field != &fields.front() ? (*random)() % 3 * 8 : 0;
    field.offset = rounded_up(layout.record_bytes + gap, alignment_of(field.bytes));
    layout.record_bytes = field.offset + field.bytes;
  }
  layout.record_bytes = rounded_up(layout.record_bytes, 8) + (random != nullptr ? (*random)() % 3 * 8 : 0);
  layout.fields = std::move(fields);
  return layout;
}

}  // namespace

std::string BufferLayouts::encode(const std::string& classic) const {
  const auto kind = read_value<std::uint32_t>(classic.data(), 0);
  if (fields_of(kind) == nullptr) return classic;
  const auto layout = kinds.find(kind);
  if (layout == kinds.end()) return {};
  std::string bytes(layout->second.record_bytes, '\xEE');  // padding holds anything
  for (const Field& field : layout->second.fields) {
    std::fill_n(bytes.data() + field.offset, field.bytes, '\0');
    std::memcpy(bytes.data() + field.offset, classic.data() + field.classic_offset, field.classic_bytes);
    if (!field.is_correlation) continue;
    auto correlation = read_value<std::uint64_t>(bytes.data(), field.offset);
    if (correlation != 0) correlation += correlation_base;
    std::memcpy(bytes.data() + field.offset, &correlation, sizeof(correlation));
  }
  return bytes;
}

DescribedLayouts::DescribedLayouts(const BufferLayouts& layouts) : by_kind_(64, nullptr) {
  for (const auto& [kind, layout] : layouts.kinds) {
    // The library does not say how large these structs are.
    std::vector<abi::FieldEntry>& entries = entries_[kind];
    for (const Field& field : layout.fields) entries.push_back({0xABAD, field.id, field.offset, field.bytes, alignment_of(field.bytes)});
    layouts_[kind] = {0, entries.data(), entries.size(), layout.record_bytes};
    by_kind_[kind] = &layouts_[kind];
  }
  info_ = {sizeof(abi::CompleteInfo), 0, by_kind_.data(), by_kind_.size()};
}

DescribedLayouts::~DescribedLayouts() {
  for (auto& [kind, entries] : entries_)
    for (abi::FieldEntry& entry : entries) entry = {1, 999, 9999, 9999, 1};
  for (auto& [kind, layout] : layouts_) layout = {1, layout.entries, 0, 1};
}

bool Layouts::select(std::uint32_t kind, std::span<const std::int32_t> ids) {
  const std::vector<Field>* fields = fields_of(kind);
  if (fields == nullptr || ids.empty() || ids[0] != abi::kFieldOfKind) return false;
  for (const std::int32_t id : ids)
    if (std::ranges::find(*fields, id, &Field::id) == fields->end()) return false;
  std::lock_guard lock(mutex_);
  selected_[kind].assign(ids.begin(), ids.end());
  return true;
}

std::shared_ptr<const BufferLayouts> Layouts::next(std::uint64_t seed, std::uint32_t change_every, std::uint64_t correlation_base) {
  std::lock_guard lock(mutex_);
  std::mt19937_64 random(seed + (change_every != 0 ? buffers_ / change_every : 0));
  ++buffers_;
  auto layouts = std::make_shared<BufferLayouts>();
  layouts->correlation_base = correlation_base;
  for (const auto& [kind, ids] : selected_) {
    std::vector<Field> fields;
    for (const Field& field : *fields_of(kind))
      if (std::ranges::find(ids, field.id) != ids.end()) fields.push_back(field);
    layouts->kinds[kind] = placed(std::move(fields), seed != 0 ? &random : nullptr);
  }
  return layouts;
}

void Layouts::reset() {
  std::lock_guard lock(mutex_);
  selected_.clear();
  buffers_ = 0;
}

}  // namespace cupti_double

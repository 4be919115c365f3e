// Which fields are read, and where they are.
#include "mindtorch/sources/cupti/record_reader.h"

#include <algorithm>
#include <cstring>

namespace mindtorch::sources::cupti {
namespace {

// A field of user-defined records and its place in the struct of a classic record.
struct Field {
  std::int32_t id;
  std::uint32_t offset;
  std::uint32_t bytes;
  bool is_correlation = false;
};

#define FIELD(id, record, member) \
  Field { id, offsetof(record, member), sizeof(record::member) }
#define CORRELATION(id, record) \
  Field { id, offsetof(record, correlation_id), sizeof(record::correlation_id), true }

constexpr std::array kKernelFields = {FIELD(kFieldOfKind, KernelRecord, kind),
                                      FIELD(kKernelRegistersPerThread, KernelRecord, registers_per_thread),
                                      FIELD(kKernelStart, KernelRecord, start),
                                      FIELD(kKernelEnd, KernelRecord, end),
                                      FIELD(kKernelDeviceId, KernelRecord, device_id),
                                      FIELD(kKernelContextId, KernelRecord, context_id),
                                      FIELD(kKernelStreamId, KernelRecord, stream_id),
                                      FIELD(kKernelGridX, KernelRecord, grid_x),
                                      FIELD(kKernelGridY, KernelRecord, grid_y),
                                      FIELD(kKernelGridZ, KernelRecord, grid_z),
                                      FIELD(kKernelBlockX, KernelRecord, block_x),
                                      FIELD(kKernelBlockY, KernelRecord, block_y),
                                      FIELD(kKernelBlockZ, KernelRecord, block_z),
                                      FIELD(kKernelStaticSharedMemory, KernelRecord, static_shared_memory),
                                      FIELD(kKernelDynamicSharedMemory, KernelRecord, dynamic_shared_memory),
                                      CORRELATION(kKernelCorrelationId, KernelRecord),
                                      FIELD(kKernelName, KernelRecord, name),
                                      FIELD(kKernelGraphNodeId, KernelRecord, graph_node_id)};
constexpr std::array kMemcpyFields = {FIELD(kFieldOfKind, MemcpyRecord, kind),
                                      FIELD(kMemcpyCopyKind, MemcpyRecord, copy_kind),
                                      FIELD(kMemcpySrcKind, MemcpyRecord, source_kind),
                                      FIELD(kMemcpyDstKind, MemcpyRecord, destination_kind),
                                      FIELD(kMemcpyBytes, MemcpyRecord, bytes),
                                      FIELD(kMemcpyStart, MemcpyRecord, start),
                                      FIELD(kMemcpyEnd, MemcpyRecord, end),
                                      FIELD(kMemcpyDeviceId, MemcpyRecord, device_id),
                                      FIELD(kMemcpyContextId, MemcpyRecord, context_id),
                                      FIELD(kMemcpyStreamId, MemcpyRecord, stream_id),
                                      CORRELATION(kMemcpyCorrelationId, MemcpyRecord),
                                      FIELD(kMemcpyGraphNodeId, MemcpyRecord, graph_node_id)};
constexpr std::array kPeerCopyFields = {FIELD(kFieldOfKind, PeerCopyRecord, kind),
                                        FIELD(kMemcpy2CopyKind, PeerCopyRecord, copy_kind),
                                        FIELD(kMemcpy2SrcKind, PeerCopyRecord, source_kind),
                                        FIELD(kMemcpy2DstKind, PeerCopyRecord, destination_kind),
                                        FIELD(kMemcpy2Bytes, PeerCopyRecord, bytes),
                                        FIELD(kMemcpy2Start, PeerCopyRecord, start),
                                        FIELD(kMemcpy2End, PeerCopyRecord, end),
                                        FIELD(kMemcpy2DeviceId, PeerCopyRecord, device_id),
                                        FIELD(kMemcpy2ContextId, PeerCopyRecord, context_id),
                                        FIELD(kMemcpy2StreamId, PeerCopyRecord, stream_id),
                                        CORRELATION(kMemcpy2CorrelationId, PeerCopyRecord),
                                        FIELD(kMemcpy2GraphNodeId, PeerCopyRecord, graph_node_id)};
constexpr std::array kMemsetFields = {FIELD(kFieldOfKind, MemsetRecord, kind),
                                      FIELD(kMemsetBytes, MemsetRecord, bytes),
                                      FIELD(kMemsetStart, MemsetRecord, start),
                                      FIELD(kMemsetEnd, MemsetRecord, end),
                                      FIELD(kMemsetDeviceId, MemsetRecord, device_id),
                                      FIELD(kMemsetContextId, MemsetRecord, context_id),
                                      FIELD(kMemsetStreamId, MemsetRecord, stream_id),
                                      CORRELATION(kMemsetCorrelationId, MemsetRecord),
                                      FIELD(kMemsetMemoryKind, MemsetRecord, memory_kind),
                                      FIELD(kMemsetGraphNodeId, MemsetRecord, graph_node_id)};
constexpr std::array kApiFields = {FIELD(kFieldOfKind, ApiRecord, kind),
                                   FIELD(kApiCbid, ApiRecord, callback_id),
                                   FIELD(kApiStart, ApiRecord, start),
                                   FIELD(kApiEnd, ApiRecord, end),
                                   FIELD(kApiThreadId, ApiRecord, thread_id),
                                   CORRELATION(kApiCorrelationId, ApiRecord),
                                   FIELD(kApiReturnValue, ApiRecord, return_value)};
constexpr std::array kOverheadFields = {FIELD(kFieldOfKind, OverheadRecord, kind),
                                        FIELD(kOverheadOverheadKind, OverheadRecord, overhead_kind),
                                        FIELD(kOverheadStart, OverheadRecord, start), FIELD(kOverheadEnd, OverheadRecord, end)};
constexpr std::array kSynchronizationFields = {FIELD(kFieldOfKind, SynchronizationRecord, kind),
                                               FIELD(kSynchronizationType, SynchronizationRecord, type),
                                               FIELD(kSynchronizationStart, SynchronizationRecord, start),
                                               FIELD(kSynchronizationEnd, SynchronizationRecord, end),
                                               CORRELATION(kSynchronizationCorrelationId, SynchronizationRecord),
                                               FIELD(kSynchronizationContextId, SynchronizationRecord, context_id),
                                               FIELD(kSynchronizationStreamId, SynchronizationRecord, stream_id)};
constexpr std::array kGraphTraceFields = {FIELD(kFieldOfKind, GraphTraceRecord, kind),
                                          CORRELATION(kGraphTraceCorrelationId, GraphTraceRecord),
                                          FIELD(kGraphTraceStart, GraphTraceRecord, start),
                                          FIELD(kGraphTraceEnd, GraphTraceRecord, end),
                                          FIELD(kGraphTraceDeviceId, GraphTraceRecord, device_id),
                                          FIELD(kGraphTraceGraphId, GraphTraceRecord, graph_id),
                                          FIELD(kGraphTraceContextId, GraphTraceRecord, context_id),
                                          FIELD(kGraphTraceStreamId, GraphTraceRecord, stream_id)};
constexpr std::array kEnvironmentFields = {
    FIELD(kFieldOfKind, EnvironmentRecord, kind), FIELD(kEnvironmentDeviceId, EnvironmentRecord, device_id),
    FIELD(kEnvironmentTimestamp, EnvironmentRecord, timestamp), FIELD(kEnvironmentEnvironmentKind, EnvironmentRecord, environment_kind),
    FIELD(kEnvironmentEnvironmentKindData, EnvironmentRecord, data)};
constexpr std::array kCudaEventFields = {FIELD(kFieldOfKind, CudaEventRecord, kind),
                                         CORRELATION(kCudaEventCorrelationId, CudaEventRecord),
                                         FIELD(kCudaEventContextId, CudaEventRecord, context_id),
                                         FIELD(kCudaEventStreamId, CudaEventRecord, stream_id),
                                         FIELD(kCudaEventEventId, CudaEventRecord, event_id),
                                         FIELD(kCudaEventDeviceId, CudaEventRecord, device_id),
                                         FIELD(kCudaEventDeviceTimestamp, CudaEventRecord, device_timestamp)};
#undef FIELD
#undef CORRELATION

struct KindFields {
  std::uint32_t kind;
  std::span<const Field> fields;
};
constexpr std::array<KindFields, 11> kKindFields = {{{kConcurrentKernel, kKernelFields},
                                                     {kMemcpy, kMemcpyFields},
                                                     {kMemcpyPeer, kPeerCopyFields},
                                                     {kMemset, kMemsetFields},
                                                     {kRuntime, kApiFields},
                                                     {kDriver, kApiFields},
                                                     {kOverhead, kOverheadFields},
                                                     {kSynchronization, kSynchronizationFields},
                                                     {kGraphTrace, kGraphTraceFields},
                                                     {kEnvironment, kEnvironmentFields},
                                                     {kCudaEvent, kCudaEventFields}}};

std::span<LayoutOfKind* const> layouts_in(const CompleteInfo* info) {
  if (info == nullptr || info->struct_size < sizeof(CompleteInfo) || info->record_layouts == nullptr) return {};
  return {info->record_layouts, info->num_record_layouts};
}

bool is_readable(const LayoutOfKind* layout) {
  return layout != nullptr && layout->entries != nullptr && layout->num_fields != 0 && layout->record_size >= sizeof(Activity);
}

// CUPTI 13.4 leaves the sizes of these structs unset, so they are not looked at.
std::span<const FieldEntry> entries_of(const LayoutOfKind& layout) { return {layout.entries, layout.num_fields}; }

// Empty if a field is missing, or lies where it cannot be read.
std::vector<RecordLayouts::FieldCopy> copies_of(std::span<const Field> fields, const LayoutOfKind& layout, std::uint32_t& upper) {
  std::vector<RecordLayouts::FieldCopy> copies;
  for (const FieldEntry& entry : entries_of(layout)) {
    const auto known = std::ranges::find(fields, entry.field_id, &Field::id);
    if (known == fields.end()) continue;
    if (entry.offset > layout.record_size || entry.size > layout.record_size - entry.offset) return {};
    if (entry.field_id == kFieldOfKind && entry.offset != 0) return {};  // it is read before the layout is known
    const auto offset = static_cast<std::uint32_t>(entry.offset);
    copies.push_back({offset, known->offset, std::min(known->bytes, static_cast<std::uint32_t>(entry.size))});
    // Little endian: the lower half comes first.
    if (known->is_correlation && entry.size == sizeof(std::uint64_t)) upper = offset + sizeof(std::uint32_t);
  }
  if (copies.size() != fields.size()) copies.clear();
  return copies;
}

// Two descriptions with the same fingerprint are the same. Nothing is allocated, because this runs inside a callback.
std::uint64_t fingerprint_of(const CompleteInfo* info) {
  std::uint64_t hash = 1;
  const auto mix = [&](std::uint64_t word) { hash = (hash ^ word) * 0x9E3779B97F4A7C15U, hash ^= hash >> 29; };
  const std::span<LayoutOfKind* const> layouts = layouts_in(info);
  for (std::size_t kind = 0; kind < layouts.size(); ++kind) {
    if (!is_readable(layouts[kind])) continue;
    mix(kind), mix(layouts[kind]->record_size), mix(layouts[kind]->num_fields);
    for (const FieldEntry& entry : entries_of(*layouts[kind])) {
      mix(static_cast<std::uint64_t>(entry.field_id)), mix(entry.offset), mix(entry.size);
    }
  }
  return hash;
}

void copy_field(const RecordLayouts::FieldCopy& copy, const std::uint8_t* from, std::uint8_t* to) {
  switch (copy.bytes) {
    case 1: to[copy.to] = from[copy.from]; break;
    case 2: std::memcpy(to + copy.to, from + copy.from, 2); break;
    case 4: std::memcpy(to + copy.to, from + copy.from, 4); break;
    case 8: std::memcpy(to + copy.to, from + copy.from, 8); break;
    default: std::memcpy(to + copy.to, from + copy.from, copy.bytes);
  }
}

}  // namespace

static_assert(kKindFields.size() == UserDefinedRecords::kStructs);

std::vector<std::int32_t> selected_fields(std::uint32_t kind) {
  const auto known = std::ranges::find(kKindFields, kind, &KindFields::kind);
  std::vector<std::int32_t> ids;
  if (known != kKindFields.end())
    for (const Field& field : known->fields) ids.push_back(field.id);
  return ids;
}

RecordLayouts::RecordLayouts(const CompleteInfo* info) {
  const std::span<LayoutOfKind* const> layouts = layouts_in(info);
  kinds_.resize(layouts.size());
  for (std::uint32_t kind = 0; kind < kinds_.size(); ++kind) {
    const LayoutOfKind* layout = layouts[kind];
    if (!is_readable(layout)) continue;
    kinds_[kind].record_bytes = layout->record_size;
    const auto known = std::ranges::find(kKindFields, kind, &KindFields::kind);
    if (known == kKindFields.end()) continue;
    kinds_[kind].struct_number = static_cast<std::uint32_t>(known - kKindFields.begin());
    kinds_[kind].copies = copies_of(known->fields, *layout, kinds_[kind].upper_correlation);
  }
}

std::uint32_t LayoutTable::number_of(const CompleteInfo* info) {
  const std::uint64_t fingerprint = fingerprint_of(info);
  std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(all_, fingerprint, &Known::fingerprint);
  const auto number = static_cast<std::uint32_t>(known - all_.begin()) + 1;
  if (known == all_.end()) all_.push_back({fingerprint, RecordLayouts(info)});
  return number;
}

const RecordLayouts& LayoutTable::at(std::uint32_t number) const {
  std::lock_guard lock(mutex_);
  return all_.at(number - 1).layouts;
}

const Activity* UserDefinedRecords::next() {
  if (static_cast<std::size_t>(end_ - at_) < sizeof(Activity)) return nullptr;
  std::uint32_t kind = 0;
  std::memcpy(&kind, at_, sizeof kind);
  const RecordLayouts::OfKind* layout = layouts_.find(kind);
  if (layout == nullptr || layout->record_bytes > static_cast<std::size_t>(end_ - at_)) return nullptr;
  const std::uint8_t* record = at_;
  at_ += layout->record_bytes;
  upper_correlation_ = 0;
  if (layout->copies.empty()) {
    unknown_.kind = ~kind;  // no decoder takes it for a record that it can read
    return &unknown_;
  }
  std::uint8_t* into = structs_[layout->struct_number].bytes.data();
  for (const RecordLayouts::FieldCopy& copy : layout->copies) copy_field(copy, record, into);
  if (layout->upper_correlation != 0) {
    std::uint32_t upper = 0;
    std::memcpy(&upper, record + layout->upper_correlation, sizeof upper);
    upper_correlation_ = std::uint64_t{upper} << 32;
  }
  return reinterpret_cast<const Activity*>(into);
}

}  // namespace mindtorch::sources::cupti

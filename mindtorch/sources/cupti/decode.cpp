// One record after the other, kind by kind.
#include "mindtorch/sources/cupti/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "mindtorch/base/demangle.h"
#include "mindtorch/sources/cupti/api_names.h"

namespace mindtorch::sources::cupti {
namespace {

using trace::DeviceType;
using trace::EventKind;

std::string_view memory_name(std::uint32_t kind) {
  constexpr std::array<std::string_view, 8> kNames = {"Unknown", "Pageable", "Pinned",        "Device",
                                                      "Array",   "Managed",  "Device Static", "Managed Static"};
  return kind < kNames.size() ? kNames[kind] : kNames[0];
}

std::string copy_name(std::uint8_t kind, std::uint8_t from, std::uint8_t to) {
  constexpr std::array<std::string_view, 11> kDirections = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                            "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
  return fmt::format("Memcpy {} ({} -> {})", kDirections[kind < kDirections.size() ? kind : 0], memory_name(from), memory_name(to));
}

std::string_view wait_name(std::uint32_t type) {
  switch (type) {
    case kEventSynchronize: return "Event Sync";
    case kStreamWaitEvent: return "Stream Wait Event";
    case kStreamSynchronize: return "Stream Sync";
    case kContextSynchronize: return "Context Sync";
    default: return "Unknown Sync";
  }
}

std::string_view overhead_name(std::uint32_t kind) {
  switch (kind) {
    case kDriverCompiler: return "Driver Compiler";
    case kBufferFlush: return "Buffer Flush";
    case kInstrumentation: return "Instrumentation";
    case kResource: return "Resource";
    case kModuleLoading: return "Runtime Triggered Module Loading";
    case kLazyFunctionLoading: return "Lazy Function Loading";
    case kCommandBufferFull: return "Command Buffer Full";
    case kBufferRequest: return "Activity Buffer Request";
    case kUvmInit: return "UVM Activity Init";
    default: return "Unknown";
  }
}

std::int64_t as_value(std::uint64_t number) { return static_cast<std::int64_t>(number); }

std::string triple(const std::int32_t (&value)[3]) { return fmt::format("[{}, {}, {}]", value[0], value[1], value[2]); }

template <class Record>
const Record& as(const Activity& activity) {
  return reinterpret_cast<const Record&>(activity);
}

}  // namespace

std::size_t Decoder::ConfigHash::operator()(const KernelConfig& config) const noexcept {
  const std::array<std::uint64_t, 6> words = {
      config.graph_node,
      static_cast<std::uint64_t>(config.device) << 32 | config.context,
      static_cast<std::uint64_t>(config.grid[0]) << 32 ^ static_cast<std::uint64_t>(config.grid[1]) << 16 ^
          static_cast<std::uint64_t>(config.grid[2]),
      static_cast<std::uint64_t>(config.block[0]) << 32 ^ static_cast<std::uint64_t>(config.block[1]) << 16 ^
          static_cast<std::uint64_t>(config.block[2]),
      static_cast<std::uint64_t>(config.shared_memory),
      config.registers,
  };
  std::uint64_t hash = 0;
  for (const std::uint64_t word : words) hash = (hash ^ word) * 0x9E3779B97F4A7C15U, hash ^= hash >> 32;
  return hash;
}

template <class Records>
void Decoder::decode_all(Records records) {
  while (const Activity* next = records.next()) {
    upper_correlation_ = has_short_correlations_ ? 0 : records.upper_correlation();
    add(*next);
  }
  // The rest cannot be read. The number of records in it is unknown.
  if (!records.has_been_read()) store_.count_unknown();
}
template void Decoder::decode_all(ClassicRecords records);
template void Decoder::decode_all(UserDefinedRecords records);

void Decoder::add(const Activity& record) {
  switch (record.kind) {
    case kConcurrentKernel: return add(as<KernelRecord>(record));
    case kMemcpy: return add(as<MemcpyRecord>(record));
    case kMemcpyPeer: return add(as<PeerCopyRecord>(record));
    case kMemset: return add(as<MemsetRecord>(record));
    case kSynchronization: return add(as<SynchronizationRecord>(record));
    case kRuntime:
    case kDriver: return add(as<ApiRecord>(record));
    case kOverhead: return add(as<OverheadRecord>(record));
    case kGraphTrace: return add(as<GraphTraceRecord>(record));
    case kEnvironment: return add(as<EnvironmentRecord>(record));
    case kCudaEvent: return add(as<CudaEventRecord>(record));
    default: store_.count_unknown();
  }
}

void Decoder::add(const KernelRecord& kernel) {
  add_work(EventKind::kKernel, kernel.start, kernel.end, kernel.correlation_id, {kernel.device_id, kernel.context_id, kernel.stream_id},
           kernel_name(kernel.name), kernel_detail(kernel));
}

void Decoder::add(const MemcpyRecord& copy) {
  add_work(EventKind::kMemcpy, copy.start, copy.end, copy.correlation_id, {copy.device_id, copy.context_id, copy.stream_id},
           batch_.name_id(copy_name(copy.copy_kind, copy.source_kind, copy.destination_kind)),
           copy_detail(copy.context_id, copy.bytes, copy.graph_node_id));
}

void Decoder::add(const PeerCopyRecord& copy) {
  add_work(EventKind::kMemcpy, copy.start, copy.end, copy.correlation_id, {copy.device_id, copy.context_id, copy.stream_id},
           batch_.name_id(copy_name(copy.copy_kind, copy.source_kind, copy.destination_kind)),
           copy_detail(copy.context_id, copy.bytes, copy.graph_node_id));
}

void Decoder::add(const MemsetRecord& set) {
  add_work(EventKind::kMemset, set.start, set.end, set.correlation_id, {set.device_id, set.context_id, set.stream_id},
           batch_.name_id(fmt::format("Memset ({})", memory_name(set.memory_kind))),
           copy_detail(set.context_id, set.bytes, set.graph_node_id));
}

void Decoder::add(const GraphTraceRecord& replay) {
  const std::vector<trace::Attribute> row = {batch_.attribute("context", std::int64_t{replay.context_id}),
                                             batch_.attribute("graph id", std::int64_t{replay.graph_id})};
  add_work(EventKind::kKernel, replay.start, replay.end, replay.correlation_id, {replay.device_id, replay.context_id, replay.stream_id},
           batch_.name_id(fmt::format("CUDA graph {}", replay.graph_id)), batch_.details.add(row));
}

void Decoder::add(const SynchronizationRecord& wait) {
  if (!extra_parts_.waits) return;
  // A wait for a whole context has no stream, and its record no device.
  const auto stream = static_cast<std::int32_t>(wait.stream_id);
  const std::vector<trace::Attribute> row = {batch_.attribute("context", std::int64_t{wait.context_id})};
  store_.store({.start = wait.start,
                .end = wait.end,
                .correlation = upper_correlation_ | wait.correlation_id,
                .name = batch_.name_id(wait_name(wait.type)),
                .detail = batch_.details.add(row),
                .lane = stream,
                .kind = EventKind::kSync,
                .device = {DeviceType::kCuda, 0}});
}

void Decoder::add(const ApiRecord& call) {
  const ApiFunction& function = api_function(call.kind, call.callback_id);
  if (!function.is_kept) return;
  store_.store({.start = call.start,
                .end = call.end,
                .correlation = upper_correlation_ | call.correlation_id,
                .name = function.name,
                .detail = function.detail,
                .lane = static_cast<std::int32_t>(call.thread_id),
                .kind = call.kind == kRuntime ? EventKind::kRuntime : EventKind::kDriver,
                .device = {DeviceType::kCuda, 0},
                .launches = function.launches && call.return_value == 0});
}

void Decoder::add(const TakenCall& taken) {
  const Call& call = taken.call;
  const ApiFunction& function = api_function(call.domain == kRuntimeApi ? kRuntime : kDriver, call.callback_id);
  if (!function.is_kept) return;
  // Whatever a call does that lacks an end is outside of the recording: it is treated as a launch, which lies in no window.
  store_.store({.start = call.start,
                .end = taken.has_both_ends ? call.end : kForever.session,
                .correlation = call.correlation,
                .name = function.name,
                .detail = function.detail,
                .lane = static_cast<std::int32_t>(taken.thread_id),
                .kind = call.domain == kRuntimeApi ? EventKind::kRuntime : EventKind::kDriver,
                .clock = kSessionClock,
                .device = {DeviceType::kCuda, 0},
                .launches = !taken.has_both_ends || (function.launches && call.result == 0)});
}

void Decoder::add(const OverheadRecord& overhead) {
  // On a row of its own: it may overlap the calls of its thread in part.
  store_.store({.start = overhead.start,
                .end = overhead.end,
                .name = batch_.name_id(overhead_name(overhead.overhead_kind)),
                .lane = 0,
                .kind = EventKind::kOverhead,
                .device = {DeviceType::kCpu, 0}});
}

void Decoder::add_work(EventKind kind, std::uint64_t start, std::uint64_t end, std::uint32_t correlation, Place place, std::uint32_t name,
                       std::uint32_t detail) {
  store_.store_work({.start = start,
                     .end = end,
                     .correlation = upper_correlation_ | correlation,
                     .name = name,
                     .detail = detail,
                     .lane = static_cast<std::int32_t>(place.stream),
                     .kind = kind,
                     .device = {DeviceType::kCuda, static_cast<std::uint8_t>(place.device)}});
}

std::uint32_t Decoder::kernel_name(const char* mangled) {
  if (mangled == nullptr) return batch_.name_id("unknown kernel");
  KernelName& known = kernel_names_[mangled];
  if (known.id == 0 || std::strcmp(known.mangled.c_str(), mangled) != 0) {
    known.mangled = mangled;
    known.id = batch_.name_id(demangled(mangled));
  }
  return known.id;
}

std::uint32_t Decoder::kernel_detail(const KernelRecord& kernel) {
  const KernelConfig config{.graph_node = kernel.graph_node_id,
                            .device = kernel.device_id,
                            .context = kernel.context_id,
                            .grid = {kernel.grid_x, kernel.grid_y, kernel.grid_z},
                            .block = {kernel.block_x, kernel.block_y, kernel.block_z},
                            .shared_memory = kernel.static_shared_memory + kernel.dynamic_shared_memory,
                            .registers = kernel.registers_per_thread};
  const auto [at, is_new] = kernel_details_.try_emplace(config, 0);
  if (!is_new) return at->second;
  std::vector<trace::Attribute> row = {batch_.attribute("queued", std::int64_t{0}),
                                       batch_.attribute("context", std::int64_t{config.context}),
                                       batch_.attribute("registers per thread", std::int64_t{config.registers}),
                                       batch_.attribute("shared memory", std::int64_t{config.shared_memory})};
  const DeviceProperties* device = properties(config.device);
  const bool is_known = device != nullptr && device->multiprocessors > 0 && device->warp_size > 0;
  const BlockNeeds block{.threads = config.block[0] * config.block[1] * config.block[2],
                         .registers_per_thread = static_cast<int>(config.registers),
                         .shared_memory = config.shared_memory};
  const double blocks = is_known ? static_cast<double>(config.grid[0]) * config.grid[1] * config.grid[2] / device->multiprocessors : 0;
  if (is_known) {
    row.push_back(batch_.attribute("blocks per SM", blocks));
    row.push_back(batch_.attribute("warps per SM", blocks * block.threads / device->warp_size));
  }
  row.push_back(batch_.json_attribute("grid", triple(config.grid)));
  row.push_back(batch_.json_attribute("block", triple(config.block)));
  const int occupancy = is_known ? estimated_occupancy_percent(device->limits, block, blocks) : -1;
  if (occupancy >= 0) row.push_back(batch_.attribute("est. achieved occupancy %", std::int64_t{occupancy}));
  return at->second = add_detail(std::move(row), config.graph_node);
}

std::uint32_t Decoder::copy_detail(std::uint32_t context, std::uint64_t bytes, std::uint64_t graph_node) {
  return add_detail({batch_.attribute("context", std::int64_t{context}), batch_.attribute("bytes", as_value(bytes))}, graph_node);
}

std::uint32_t Decoder::add_detail(std::vector<trace::Attribute> row, std::uint64_t graph_node) {
  if (graph_node == 0) return batch_.details.add(row);
  row.push_back(batch_.attribute("graph node id", as_value(graph_node)));
  const std::uint32_t detail = batch_.details.add(row);
  node_of_detail_[detail] = graph_node;
  return detail;
}

const Decoder::ApiFunction& Decoder::api_function(std::uint32_t kind, std::uint32_t callback_id) {
  const auto [at, is_new] = api_functions_.try_emplace(std::uint64_t{kind} << 32 | callback_id);
  if (!is_new) return at->second;
  const bool is_runtime = kind == kRuntime;
  const char* text = nullptr;
  const bool is_known =
      cupti_.cuptiGetCallbackName(is_runtime ? kRuntimeApi : kDriverApi, callback_id, &text) == kSuccess && text != nullptr;
  const std::string name = is_known ? plain_api_name(text) : fmt::format("{} call {}", is_runtime ? "runtime" : "driver", callback_id);
  const std::vector<trace::Attribute> row = {batch_.attribute("cbid", std::int64_t{callback_id})};
  at->second = {.name = batch_.name_id(name),
                .detail = batch_.details.add(row),
                .is_kept = is_runtime ? !is_noisy_runtime_call(callback_id) : is_driver_call_worth_keeping(name),
                .launches = causes_device_work(name)};
  return at->second;
}

// Asked for when the first kernel comes: the program has initialised CUDA by then.
const DeviceProperties* Decoder::properties(std::uint32_t device) {
  if (properties_.empty()) properties_ = device_properties();
  return device < properties_.size() ? &properties_[device] : nullptr;
}

}  // namespace mindtorch::sources::cupti

// Work on streams, and the records it leaves.
#include "tests/doubles/cupti/device.h"

#include <algorithm>
#include <thread>

#include "tests/doubles/cupti/library.h"

namespace cupti_double {
namespace {

constexpr std::int64_t kLaunchLatency = 300;
constexpr std::uint64_t kUsualDuration = 1000;
constexpr std::uint64_t kDeviceLane = 0;
constexpr std::uint32_t kNoSuchKind = 0x7000;

std::string make_record(const CuptiDoubleWork& work, std::uint32_t correlation, std::uint64_t node) {
  const std::uint32_t version = library().version();
  const auto graph = static_cast<std::uint32_t>(node >> 32);
  const auto fill = [&](auto record) {
    record.kind = work.activity_kind;
    record.device_id = work.device;
    record.context_id = work.device + 1;
    record.stream_id = work.stream;
    record.correlation_id = correlation;
    record.graph_node_id = node;
    record.graph_id = graph;
    return record;
  };
  if (work.activity_kind == abi::kMemcpy) {
    auto record = fill(abi::MemcpyRecord{});
    record.copy_kind = static_cast<std::uint8_t>(work.copy_kind != 0 ? work.copy_kind : std::uint32_t{abi::kHostToDevice});
    record.source_kind = record.copy_kind == abi::kHostToDevice ? abi::kPinned : abi::kDeviceMemory;
    record.destination_kind = record.copy_kind == abi::kDeviceToHost ? abi::kPinned : abi::kDeviceMemory;
    record.flags = 1;
    record.bytes = work.bytes;
    return record_bytes(record, version);
  }
  if (work.activity_kind == abi::kMemcpyPeer) {
    auto record = fill(abi::PeerCopyRecord{});
    record.copy_kind = abi::kPeerToPeer;
    record.source_kind = record.destination_kind = abi::kDeviceMemory;
    record.source_device_id = work.device;
    record.destination_device_id = work.device + 1;
    record.bytes = work.bytes;
    return record_bytes(record, version);
  }
  if (work.activity_kind == abi::kMemset) {
    auto record = fill(abi::MemsetRecord{});
    record.value = work.value;
    record.memory_kind = abi::kDeviceMemory;
    record.bytes = work.bytes;
    return record_bytes(record, version);
  }
  auto record = fill(abi::KernelRecord{});
  record.name = work.name;
  record.registers_per_thread = 32;
  record.grid_x = work.grid[0], record.grid_y = work.grid[1], record.grid_z = work.grid[2];
  record.block_x = work.block[0], record.block_y = work.block[1], record.block_z = work.block[2];
  return record_bytes(record, version);
}

void write_times(std::string& record, std::uint64_t start, std::uint64_t end) {
  const std::size_t offset = start_offset(read_value<std::uint32_t>(record.data(), 0));
  write_value(record.data(), offset, start);
  write_value(record.data(), offset + sizeof start, end);
}

}  // namespace

Device::Pending Device::place(const CuptiDoubleWork& work) {
  std::int64_t& stream_end = stream_ends_[{work.device, work.stream}];
  const std::int64_t earliest = work.start_ns != 0 ? library().clock.to_monotonic(work.start_ns) : monotonic_now() + kLaunchLatency;
  const std::int64_t start = std::max(earliest, stream_end);
  stream_end = start + static_cast<std::int64_t>(work.duration_ns != 0 ? work.duration_ns : kUsualDuration);
  return {start, stream_end, {}, 0};
}

void Device::add(Pending pending, std::uint32_t kind, std::uint32_t correlation, std::uint64_t node) {
  truth_.push_back({kind, correlation, node, static_cast<std::uint64_t>(pending.start), static_cast<std::uint64_t>(pending.end)});
  pending_.push_back(std::move(pending));
}

void Device::enqueue(const CuptiDoubleWork& work, std::uint32_t correlation) {
  std::lock_guard lock(mutex_);
  Pending pending = place(work);
  pending.tools = library().wanted_by(work.activity_kind);
  if (pending.tools == 0) return;
  pending.record = make_record(work, correlation, 0);
  add(std::move(pending), work.activity_kind, correlation, 0);
}

void Device::enqueue_graph(const Graph& graph, std::uint32_t stream, std::uint32_t correlation) {
  std::lock_guard lock(mutex_);
  const bool is_whole = library().traces_whole_graphs();
  Pending whole;
  std::uint32_t device = 0;
  for (const auto& node : graph.nodes) {
    CuptiDoubleWork work = node->work;
    work.stream = stream;
    work.start_ns = 0;
    Pending pending = place(work);
    whole = {whole.start == 0 ? pending.start : whole.start, pending.end, {}, 0};
    device = work.device;
    pending.tools = library().wanted_by(work.activity_kind);
    if (is_whole || pending.tools == 0) continue;
    pending.record = make_record(work, correlation, node->id);
    add(std::move(pending), work.activity_kind, correlation, node->id);
  }
  // A graph that was instantiated before leaves no record at all.
  if (!is_whole || !graph.is_traced_whole || graph.nodes.empty()) return;
  abi::GraphTraceRecord record{.kind = abi::kGraphTrace, .correlation_id = correlation, .device_id = device, .graph_id = graph.id};
  record.context_id = device + 1;
  record.stream_id = stream;
  whole.record = record_bytes(record, library().version());
  whole.tools = library().wanted_by(abi::kGraphTrace);
  add(std::move(whole), abi::kGraphTrace, correlation, 0);
}

void Device::settle() {
  std::lock_guard lock(mutex_);
  if (!is_held_) settle_until(monotonic_now());
}

void Device::settle_until(std::int64_t now) {
  const auto running = std::stable_partition(pending_.begin(), pending_.end(), [now](const Pending& each) { return each.end <= now; });
  for (auto each = pending_.begin(); each != running; ++each) {
    write_times(each->record, library().clock.from_monotonic(each->start), library().clock.from_monotonic(each->end));
    write(std::move(each->record), each->tools);
  }
  pending_.erase(pending_.begin(), running);
}

void Device::settle_forcibly() {
  std::lock_guard lock(mutex_);
  const std::int64_t now = monotonic_now();
  if (!is_held_) settle_until(now);
  for (Pending& each : pending_) {
    write_times(each.record, each.start <= now ? library().clock.from_monotonic(each.start) : 0, 0);
    write(std::move(each.record), each.tools);
  }
  pending_.clear();
}

void Device::wait_until_idle() {
  std::unique_lock lock(mutex_);
  while (!pending_.empty()) {
    if (!is_held_) settle_until(monotonic_now());
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
}

void Device::hold(bool held) {
  std::lock_guard lock(mutex_);
  is_held_ = held;
}

std::int64_t Device::end_of_stream(std::uint32_t device, std::uint32_t stream) {
  std::lock_guard lock(mutex_);
  const auto end = stream_ends_.find({device, stream});
  return std::max(monotonic_now(), end != stream_ends_.end() ? end->second : 0);
}

void Device::set_faults(const CuptiDoubleFaults& faults) {
  std::lock_guard lock(mutex_);
  faults_ = faults;
}

void Device::write_record(std::string record, std::uint32_t tools) {
  std::lock_guard lock(mutex_);
  write(std::move(record), tools);
}

void Device::write(std::string record, std::uint32_t tools) {
  const auto strikes = [this](std::uint32_t every) { return every != 0 && written_ % every == 0; };
  ++written_;
  if (strikes(faults_.lose_every)) {
    ++lost_;
    if (faults_.count_lost) library().count_dropped(tools, 1);
    return;
  }
  if (strikes(faults_.zero_times_every)) {
    ++zeroed_;
    write_times(record, 0, 0);
  }
  library().write(tools, kDeviceLane, record);
  if (strikes(faults_.unknown_record_every)) {
    std::string unknown(64, '\0');
    write_value(unknown.data(), 0, kNoSuchKind);
    library().write(tools, kDeviceLane, unknown);
    library().end_buffers(tools, kDeviceLane);
  }
}

void Device::add_truth(const CuptiDoubleTruth& truth) {
  std::lock_guard lock(mutex_);
  truth_.push_back(truth);
}

std::size_t Device::take_truth(CuptiDoubleTruth* out, std::size_t capacity) {
  std::lock_guard lock(mutex_);
  if (capacity == 0) return truth_.size();
  const std::size_t count = std::min(capacity, truth_.size());
  std::copy_n(truth_.begin(), count, out);
  truth_.erase(truth_.begin(), truth_.begin() + static_cast<std::ptrdiff_t>(count));
  return count;
}

std::uint64_t Device::lost() const {
  std::lock_guard lock(mutex_);
  return lost_;
}

std::uint64_t Device::zeroed() const {
  std::lock_guard lock(mutex_);
  return zeroed_;
}

void Device::reset() {
  std::lock_guard lock(mutex_);
  is_held_ = false;
  faults_ = {};
  stream_ends_.clear();
  pending_.clear();
  truth_.clear();
  written_ = lost_ = zeroed_ = 0;
}

}  // namespace cupti_double

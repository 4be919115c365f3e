// Reads a file of captured activity and delivers its records as if the work had just been done.
#include "tests/doubles/cupti/replay.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/doubles/cupti/capture_file.h"
#include "tests/doubles/cupti/library.h"

namespace cupti_double {
namespace {

using namespace cupti_capture;

std::string decompressed(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(file), {}};
  const auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) return {};
  std::string bytes(size, '\0');
  const std::size_t done = ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
  return ZSTD_isError(done) != 0 ? std::string() : bytes;
}

// A captured file in parts.
struct Captured {
  Origin origin;
  std::string_view strings;
  std::vector<FunctionName> functions;
  std::vector<GraphCallback> graph_callbacks;
  std::vector<std::string> records;

  const char* string(std::uint64_t one_plus_offset) const {
    return one_plus_offset == 0 ? nullptr : library().keep(strings.data() + one_plus_offset - 1);
  }
};

template <class Entry>
std::vector<Entry> entries(std::string_view bytes) {
  std::vector<Entry> all(bytes.size() / sizeof(Entry));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof(Entry));
  return all;
}

bool add_records(std::string_view buffer, std::uint32_t version, std::vector<std::string>& records) {
  while (!buffer.empty()) {
    const std::size_t size = record_size(read_value<std::uint32_t>(buffer.data(), 0), version);
    if (size == 0 || size > buffer.size()) return false;
    records.emplace_back(buffer.substr(0, size));
    buffer.remove_prefix(size);
  }
  return true;
}

bool parse(std::string_view bytes, Captured& out) {
  while (bytes.size() >= sizeof(ChunkHead)) {
    const auto head = read_value<ChunkHead>(bytes.data(), 0);
    if (head.bytes > bytes.size() - sizeof head) return false;
    const std::string_view chunk = bytes.substr(sizeof head, head.bytes);
    bytes.remove_prefix(sizeof head + head.bytes);
    switch (head.tag) {
      case kOrigin: out.origin = read_value<Origin>(chunk.data(), 0); break;
      case kStrings: out.strings = chunk; break;
      case kFunctions: out.functions = entries<FunctionName>(chunk); break;
      case kGraphCallbacks: out.graph_callbacks = entries<GraphCallback>(chunk); break;
      case kBuffer:
        if (!add_records(chunk, out.origin.cupti_version, out.records)) return false;
        break;
      default: return false;
    }
  }
  return bytes.empty() && !out.records.empty();
}

bool has_time(std::uint32_t kind) { return kind != abi::kCudaEvent && kind != abi::kExternalCorrelation; }
bool is_call(std::uint32_t kind) { return kind == abi::kRuntime || kind == abi::kDriver; }
std::uint32_t kind_of(const std::string& record) { return read_value<std::uint32_t>(record.data(), 0); }

// Returns by how much everything has been moved.
std::uint64_t move_times(std::vector<std::string>& records, std::uint64_t end_ns) {
  std::uint64_t last = 0;
  for (const std::string& record : records) {
    if (has_time(kind_of(record))) last = std::max(last, read_value<std::uint64_t>(record.data(), start_offset(kind_of(record)) + 8));
  }
  for (std::string& record : records) {
    if (!has_time(kind_of(record))) continue;
    for (const std::size_t offset : {start_offset(kind_of(record)), start_offset(kind_of(record)) + 8})
      write_value(record.data(), offset, read_value<std::uint64_t>(record.data(), offset) + end_ns - last);
  }
  return end_ns - last;
}

// The client may ask for the time in its callbacks.
void make_graph_callbacks(const std::vector<GraphCallback>& callbacks, std::uint64_t moved_by) {
  for (const GraphCallback& callback : callbacks) {
    Clock::pin(callback.realtime + moved_by);
    library().graphs.replay(callback);
  }
  Clock::pin(0);
}

Library::Tools wanted_by(const std::string& record) {
  const std::uint32_t kind = kind_of(record);
  if (!is_call(kind)) return library().wanted_by(kind);
  const std::uint32_t domain = kind == abi::kRuntime ? abi::kRuntimeApi : abi::kDriverApi;
  return library().call_wanted_by(domain, read_value<std::uint32_t>(record.data(), 4));
}

std::uint32_t correlation_of(const std::string& record) {
  switch (kind_of(record)) {
    case abi::kConcurrentKernel: return read_value<std::uint32_t>(record.data(), offsetof(abi::KernelRecord, correlation_id));
    case abi::kMemcpyPeer: return read_value<std::uint32_t>(record.data(), offsetof(abi::PeerCopyRecord, correlation_id));
    case abi::kGraphTrace: return read_value<std::uint32_t>(record.data(), offsetof(abi::GraphTraceRecord, correlation_id));
    case abi::kMemcpy:
    case abi::kMemset: return read_value<std::uint32_t>(record.data(), offsetof(abi::MemcpyRecord, correlation_id));
    case abi::kRuntime:
    case abi::kDriver: return read_value<std::uint32_t>(record.data(), offsetof(abi::ApiRecord, correlation_id));
    default: return 0;
  }
}

void add_truth(const std::string& record) {
  const std::size_t start = start_offset(kind_of(record));
  const auto monotonic = [&](std::size_t offset) {
    return static_cast<std::uint64_t>(library().clock.to_monotonic(read_value<std::uint64_t>(record.data(), offset)));
  };
  const std::size_t node = kind_of(record) == abi::kConcurrentKernel ? offsetof(abi::KernelRecord, graph_node_id)
                           : kind_of(record) == abi::kMemcpyPeer     ? offsetof(abi::PeerCopyRecord, graph_node_id)
                                                                     : offsetof(abi::MemcpyRecord, graph_node_id);
  library().device.add_truth(
      {kind_of(record), correlation_of(record), read_value<std::uint64_t>(record.data(), node), monotonic(start), monotonic(start + 8)});
}

void deliver(std::string record, Library::Tools tools, const Captured& captured, std::uint32_t thread_id) {
  const std::uint32_t kind = kind_of(record);
  library().reserve_correlations_up_to(correlation_of(record));
  if (kind == abi::kConcurrentKernel) {
    const auto name = read_value<std::uint64_t>(record.data(), kKernelNameOffset);
    write_value(record.data(), kKernelNameOffset, captured.string(name));
  }
  constexpr std::size_t kThread = offsetof(abi::ApiRecord, thread_id);
  std::uint64_t lane = 0;
  if (is_call(kind)) {
    lane = read_value<std::uint32_t>(record.data(), kThread);
    if (thread_id != 0 && lane == captured.origin.process_id) write_value(record.data(), kThread, thread_id);
  }
  if (is_device_kind(kind)) add_truth(record);
  record.resize(record_size(kind, library().version()), '\0');  // what another version appends is zero
  if (is_device_kind(kind)) {
    library().device.write_record(std::move(record), tools);
  } else {
    library().write(tools, lane, record);
  }
}

}  // namespace

std::int64_t replay(const char* path, std::uint64_t end_ns, std::uint32_t thread_id) {
  const std::string bytes = decompressed(path);
  Captured captured;
  if (!parse(bytes, captured)) return -1;
  for (const FunctionName& function : captured.functions)
    library().set_function_name(function.domain, function.callback_id, captured.string(function.name));
  make_graph_callbacks(captured.graph_callbacks, end_ns != 0 ? move_times(captured.records, end_ns) : 0);
  std::int64_t delivered = 0;
  for (std::string& record : captured.records) {
    const Library::Tools tools = wanted_by(record);
    if (tools == 0) continue;
    deliver(std::move(record), tools, captured, thread_id);
    ++delivered;
  }
  return delivered;
}

}  // namespace cupti_double

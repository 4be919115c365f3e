// What a part takes in memory, and the hash of a row.
#include "mindtorch/ingest/chrome/trace_part.h"

#include "mindtorch/ingest/chrome/name_cache.h"

namespace mindtorch::ingest::chrome {

std::uint64_t hash_of_row(std::string_view pid, std::string_view tid, bool is_device) {
  return hash_of(tid) ^ (hash_of(pid) << 1 | std::uint64_t{is_device});
}

std::uint64_t memory_of(const TracePart& part) {
  // A vector that grows takes three times its size for a moment; ordering events takes about as much as their columns.
  constexpr std::uint64_t kGrowth = 3;
  constexpr std::uint64_t kEvent = 2 * 32 + sizeof(RowId), kMemoryEvent = 48, kSideRow = 12;
  constexpr std::uint64_t kName = 2 * sizeof(std::string) + 40;  // in the recording and the cache, with their hash tables
  constexpr std::uint64_t kMapEntry = 64;                        // besides what it holds
  const trace::Recording& r = part.recording;
  const auto table = [](const auto& side) { return side.events.size() * kSideRow + side.values.size() * sizeof(side.values[0]); };
  std::uint64_t bytes = r.events.size() * kEvent + r.memory.size() * kMemoryEvent + r.names.size() * kName;
  bytes += table(r.inputs) + table(r.attributes) + table(r.stacks.of_event);
  bytes += r.stacks.frames.size() * sizeof(trace::Frame) + (r.stacks.frame_ids.size() + r.stacks.offsets.size()) * 4;
  bytes += part.counter_samples.size() * (sizeof(CounterSample) + sizeof(std::int64_t) + sizeof(double));
  bytes += part.rows.size() * (sizeof(RowKey) + sizeof(trace::Track) + 32);
  bytes +=
      part.row_names.size() * (sizeof(RowKey) + sizeof(std::string) + kMapEntry) + part.skipped.size() * (sizeof(std::string) + kMapEntry);
  bytes += (part.flow_starts.size() + part.flow_ends.size()) * 2 * sizeof(std::uint64_t);
  return kGrowth * bytes + part.header_bytes * 2;
}

}  // namespace mindtorch::ingest::chrome

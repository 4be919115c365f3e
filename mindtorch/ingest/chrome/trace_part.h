// TracePart: the content of one piece of a Chrome trace, before pieces are put together. Events are in the order of the text, and times are
// those of the text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/trace/interning.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::ingest::chrome {

// A row of the viewer: "pid" and "tid" as they stand in the text (437 or "Spans"), and whether device activities lie there.
struct RowKey {
  std::string pid;
  std::string tid;
  bool is_device = false;
  friend bool operator==(const RowKey&, const RowKey&) = default;
  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

using RowId = std::uint32_t;

// One value of a counter: an element of phase "C" has one for each of its arguments. The process is the text of its pid.
struct CounterSample {
  trace::NameId name = 0, unit = 0, process = 0;
  std::int64_t time_ns = 0;
  double value = 0;
};

struct TracePart {
  trace::Recording recording;                                        // events, side tables, memory and names; tracks are not known yet
  std::vector<RowId> row_of_event;                                   // memory reports have theirs in recording.memory.track
  std::vector<std::pair<std::int64_t, trace::StackId>> stack_of_id;  // for stack_references.h
  std::vector<CounterSample> counter_samples;
  std::vector<RowKey> rows;
  std::vector<std::int64_t> streams;          // of each row: the stream its activities name, -1 if none
  std::map<RowKey, std::string> row_names;    // thread_name; is_device false
  std::map<std::string, std::string> header;  // keys of the top level other than traceEvents -> JSON text
  std::uint64_t header_bytes = 0;
  std::map<std::string, std::uint64_t> skipped;
  std::int64_t window_start_ns = kNoTime, window_end_ns = kNoTime;
  bool saw_npu = false, saw_cuda = false;  // whose runtime calls there are
  bool has_events = false;                 // whether there is a list of events, empty or not
  std::uint64_t elements = 0;
  std::string damage;
  std::vector<std::uint64_t> flow_starts, flow_ends;  // hashes of what tells one arrow from another, if asked for

  static constexpr std::int64_t kNoTime = INT64_MIN;
};

std::uint64_t hash_of_row(std::string_view pid, std::string_view tid, bool is_device);
inline std::uint64_t hash_of(const RowKey& key) { return hash_of_row(key.pid, key.tid, key.is_device); }

// Bytes that a part takes, at most, while it is made and when it becomes a Recording; the texts of its names are not counted. O(1).
std::uint64_t memory_of(const TracePart& part);

}  // namespace mindtorch::ingest::chrome

// DeviceBatch: the records of a source, in compact form. A record has a fixed size; names and details that repeat are stored once.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"
#include "mindtorch/trace/interning.h"

namespace mindtorch::record {

// One activity, in the ticks of one of the source's clocks.
struct DeviceRecord {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t correlation = 0;  // the same on a launch and on the device records it caused; 0 = none
  std::uint32_t name = 0;         // index into DeviceBatch::names
  std::uint32_t detail = 0;       // index of a row of DeviceBatch::details; 0 is the empty row
  std::int32_t lane = 0;          // device kinds: the stream; host kinds: the OS thread id
  trace::EventKind kind = trace::EventKind::kKernel;
  std::uint8_t clock = 0;  // index into DeviceBatch::clocks
  trace::Device device;
  bool launches = false;  // a call that must have a device record of the same correlation
};
static_assert(sizeof(DeviceRecord) <= 48, "a million kernels must fit into 48 MB");

// The same moment on the source's clock and, bracketed, on the session's clock: host_before <= device <= host_after.
struct BracketedSample {
  std::uint64_t device_ticks = 0;
  std::uint64_t host_before = 0;
  std::uint64_t host_after = 0;
};

struct SourceClock {
  std::string name;
  bool is_session_clock = false;  // ticks are the session's own: no samples needed
  double nominal_ticks_per_ns = 1.0;
  std::vector<BracketedSample> samples;  // at least two for a rate; more for drift
};

// Values of one quantity of a device over time, such as its power; trace::CounterTrack is the same on the timeline.
struct CounterSeries {
  std::string name;
  std::string unit;
  trace::Device device;
  std::uint8_t clock = 0;  // index into DeviceBatch::clocks
  std::vector<std::uint64_t> ticks;
  std::vector<double> values;  // finite
};

// What a thread of the host did from `start` to `end`, in ticks of the session's clock: a row of trace::SampleColumns.
struct ThreadSample {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::int32_t thread = 0;   // OS thread id
  trace::StackId stack = 0;  // index into DeviceBatch::stacks()
  trace::ThreadState state = trace::ThreadState::kUnknown;
};

struct ThreadIdentification {
  std::string name;
  std::int64_t pid = 0;  // 0: this process
};

// Rows of attributes (kernel grid, bytes of a copy), each distinct row stored once. Keys and texts are indices into the batch's names.
class MINDTORCH_EXPORT DetailTable {
 public:
  DetailTable() : offsets_{0, 0} {}
  std::uint32_t add(std::span<const trace::Attribute> row);
  std::span<const trace::Attribute> row(std::uint32_t detail) const {
    return std::span(values_).subspan(offsets_[detail], offsets_[detail + 1] - offsets_[detail]);
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(offsets_.size() - 1); }

 private:
  std::vector<std::uint32_t> offsets_;  // row i is values_[offsets_[i] .. offsets_[i + 1])
  std::vector<trace::Attribute> values_;
  trace::IdTable ids_;
};

// Calls that were captured into graphs, so that their work ran when the graphs were replayed.
struct GraphCaptures {
  std::uint32_t recording = 0;          // the number of the stretch of recording, which no other source or stretch of the process has
  std::vector<std::uint64_t> captured;  // the correlations of calls that were captured in this stretch
  std::vector<std::uint64_t> replayed;  // the keys (captured_call_key()) of calls whose work was replayed and that were captured earlier
};

// Everything that a source returns at stop.
struct MINDTORCH_EXPORT DeviceBatch {
  std::vector<SourceClock> clocks;
  std::vector<std::string> names{""};
  DetailTable details;
  std::vector<DeviceRecord> records;
  std::vector<CounterSeries> counters;
  std::vector<ThreadSample> samples;
  // By OS thread id: threads of samples and host records that record nothing themselves.
  std::map<std::int32_t, ThreadIdentification> threads;
  std::uint64_t dropped = 0;  // records and samples that are missing because the vendor or the source had no room for them
  std::string dropped_detail;
  std::uint64_t overwritten = 0;  // records that are older than what was asked to be kept
  std::vector<trace::DeviceProperties> devices;
  GraphCaptures captures;
  // Further entries for the header of a trace: key and JSON text.
  std::vector<std::pair<std::string, std::string>> metadata;

  // The stack of a thread, innermost frame first. The names of the frames are indices into `names`.
  trace::StackId stack_id(std::span<const trace::Frame> frames) { return stack_interner_.intern(stacks_, frames); }
  const trace::Stacks& stacks() const { return stacks_; }
  std::uint32_t name_id(std::string_view text) { return interner_.intern(names, text); }
  std::string_view name(const DeviceRecord& record) const { return names[record.name]; }
  trace::Attribute attribute(std::string_view key, std::int64_t value) { return {name_id(key), trace::Attribute::Type::kInt, value}; }
  trace::Attribute attribute(std::string_view key, double value);
  trace::Attribute text_attribute(std::string_view key, std::string_view text) {
    return {name_id(key), trace::Attribute::Type::kText, name_id(text)};
  }
  trace::Attribute json_attribute(std::string_view key, std::string_view json) {
    return {name_id(key), trace::Attribute::Type::kJson, name_id(json)};
  }
  // The index of a counter, which is added if it is not there.
  std::uint32_t counter_id(std::string_view name, std::string_view unit, trace::Device device);
  std::size_t sample_count() const;  // of all counters and threads
  void clear_samples();
  // Counts missing records, and adds the reason once.
  void count_dropped(std::uint64_t count, std::string_view why);

 private:
  trace::NameInterner interner_;
  trace::Stacks stacks_;
  trace::StackInterner stack_interner_;
};

}  // namespace mindtorch::record

// ActivitySource: records the activities of a device. It converts the vendor's records to device records and samples the device's clock
// against the session's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/base/export.h"
#include "mindtorch/record/clock.h"
#include "mindtorch/record/device_batch.h"
#include "mindtorch/record/state.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::record {

// What a device can record besides its work, if it is asked for.
struct DeviceExtras {
  bool environment = false;  // power, clocks, temperature and fan as counters
  bool events = false;       // the moments that events mark on streams (cudaEventRecord)
  // Hardware counters, sampled at this interval, under the vendor's names.
  std::vector<std::string> metrics;
  std::chrono::nanoseconds metrics_interval = std::chrono::milliseconds(1);
};

// The options that a session passes to its sources. The clock outlives the session.
struct SourceOptions {
  Clock& clock;
  std::int64_t record_bytes = std::int64_t{4} << 30;  // what the records of one recording may take; further ones are counted as dropped
  // keep_last: records that ended before this time, in ticks of the session's clock, may be dropped. Returns 0 while all records are
  // wanted.
  std::function<std::uint64_t()> window_start = [] { return std::uint64_t{0}; };
  // spill: writes the records of a batch to the file and takes them out of the batch, so that a long recording need not keep them; names
  // and details stay, because later records refer to them. The clocks of the batch must have their samples so far. A source may call it
  // between start() and the end of stop(), on one thread at a time. Empty under the other policies.
  std::function<void(DeviceBatch& batch)> write_records;
  bool synchronizations = false;                    // waits of the host and of streams as records too
  bool whole_graphs = false;                        // one record for each replay of a captured graph instead of one for each node
  std::chrono::milliseconds stop_deadline{10'000};  // how long stop() may wait for work that is still running
  DeviceExtras extras;
  std::chrono::nanoseconds sampling_interval{0};  // how often the sampler of threads looks at them
};

class MINDTORCH_EXPORT ActivitySource {
 public:
  virtual ~ActivitySource() = default;
  virtual std::string_view name() const = 0;  // "reference", "cupti", "mspti"
  virtual trace::DeviceType device_type() const = 0;
  // Returns Ok if the device and the vendor's library are present, and otherwise a reason that the user can act on.
  virtual Status probe() = 0;
  // After probe(): what the user could set so that more is recorded, in a sentence; empty if nothing.
  virtual std::string advice() { return ""; }
  // After probe(), while no session runs: what a bug report should say, as names and values ("library", "kinds"). May be slow.
  virtual std::vector<std::pair<std::string, std::string>> diagnose() { return {}; }
  // start() need not follow.
  virtual Status prepare(const SourceOptions& options) = 0;
  virtual Status start() = 0;
  // Switches collection off and on again while the session runs (toggle_collection_dynamic).
  virtual void toggle(bool on) = 0;
  // Describes data that this session will lack although the source runs ("kernels in graphs are not linked"). Valid from prepare() to
  // stop().
  virtual std::vector<std::string> limits() const { return {}; }
  // Waits for work in flight, then returns every record since start() that SourceOptions::write_records has not taken. Records that were
  // dropped are counted in `dropped`.
  virtual DeviceBatch stop() = 0;
};

}  // namespace mindtorch::record

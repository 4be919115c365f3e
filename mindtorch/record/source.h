// A source: who watches a device. It turns the vendor's records into device records and tells how its clock relates to ours.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/base/export.h"
#include "mindtorch/record/clock.h"
#include "mindtorch/record/device_batch.h"
#include "mindtorch/record/state.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::record {

// What a session asks of its sources. The clock outlives the session.
struct SourceOptions {
  Clock& clock;
  std::int64_t record_bytes = std::int64_t{4} << 30;  // what the records of one recording may take; further ones are counted as dropped
  // keep_last: records that ended before this many ticks of the session's clock may go; returns 0 while everything is asked for.
  std::function<std::uint64_t()> window_start = [] { return std::uint64_t{0}; };
  bool synchronizations = false;                    // waits of the host and of streams as records too
  bool whole_graphs = false;                        // one record for each replay of a captured graph instead of one for each node
  std::chrono::milliseconds stop_deadline{10'000};  // how long stop() may wait for work that is still running
};

class MINDTORCH_EXPORT ActivitySource {
 public:
  virtual ~ActivitySource() = default;
  virtual std::string_view name() const = 0;  // "reference", "cupti", "mspti"
  virtual trace::DeviceType device_type() const = 0;
  // Ok if the device and the vendor's library are there; else a reason the user can act on.
  virtual Status probe() = 0;
  // May be called without start() afterwards.
  virtual Status prepare(const SourceOptions& options) = 0;
  virtual Status start() = 0;
  // Collection off and on again while the session runs (toggle_collection_dynamic).
  virtual void toggle(bool on) = 0;
  // What this session does not get although the source runs ("kernels in graphs are not linked"); valid from prepare() to stop().
  virtual std::vector<std::string> limits() const { return {}; }
  // Waits for what is in flight, then hands over every record since start(). Never throws records away silently: counts them in `dropped`.
  virtual DeviceBatch stop() = 0;
};

}  // namespace mindtorch::record

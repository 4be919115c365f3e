// A source: who watches a device. It turns the vendor's records into device records and tells how its clock relates to ours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/record/clock.h"
#include "mindtorch/record/state.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::record {

// One activity, in the ticks of the source's clock domain.
struct DeviceRecord {
  trace::EventKind kind = trace::EventKind::kKernel;
  std::uint8_t clock = 0;  // index into DeviceBatch::clocks
  trace::Device device;
  std::int64_t stream = 0;     // device kinds: stream id (>= 1)
  std::int64_t thread_id = 0;  // kRuntime / kDriver: OS thread id
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t correlation = 0;  // same on the launch and its device record; 0 = none
  std::string name;
  std::vector<std::pair<std::string, std::int64_t>> attributes;
};

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

// Everything a source has at stop.
struct DeviceBatch {
  std::vector<SourceClock> clocks;
  std::vector<DeviceRecord> records;
  std::uint64_t dropped = 0;  // records the vendor says it lost
  std::string dropped_detail;
  // What is known about each device, as one JSON object with torch's keys (id, name, totalGlobalMem, ...).
  std::vector<std::string> device_properties;
};

class ActivitySource {
 public:
  virtual ~ActivitySource() = default;
  virtual std::string_view name() const = 0;  // "reference", "cupti", "mspti"
  virtual trace::DeviceType device_type() const = 0;
  // Ok if the device and the vendor's library are there; else a reason the user can act on.
  virtual Status probe() = 0;
  // May be called without start() afterwards. `clock` outlives the session.
  virtual Status prepare(Clock& clock) = 0;
  virtual Status start() = 0;
  // Collection off and on again while the session runs (toggle_collection_dynamic).
  virtual void toggle(bool on) = 0;
  // Waits for what is in flight, then hands over every record since start(). Never throws records away silently: counts them in `dropped`.
  virtual DeviceBatch stop() = 0;
};

}  // namespace mindtorch::record

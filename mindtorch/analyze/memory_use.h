// MemoryUse: the bytes each host event allocated and freed. MemoryTotals: how much was allocated on a device at a time.
//
// A report belongs to the innermost node that was open on its thread (ends included), and counts for all nodes around it.
#pragma once

#include <cstdint>
#include <vector>

#include "mindtorch/analyze/event_tree.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

struct MemoryDelta {
  std::int64_t cpu = 0;
  std::int64_t device = 0;
  MemoryDelta& operator+=(const MemoryDelta& other) {
    cpu += other.cpu;
    device += other.device;
    return *this;
  }
  friend bool operator==(const MemoryDelta&, const MemoryDelta&) = default;
};

class MINDTORCH_EXPORT MemoryUse {
 public:
  // O(events + reports); 32 bytes per event and 4 bytes per report if the recording has memory reports, else nothing.
  MemoryUse(const trace::Recording& recording, const EventTree& tree);

  bool empty() const { return self_.empty(); }
  MemoryDelta self(EventIndex node) const { return empty() ? MemoryDelta{} : self_[node]; }
  MemoryDelta total(EventIndex node) const { return empty() ? MemoryDelta{} : total_[node]; }
  // The node a report (index into Recording::memory) belongs to, kNoEvent if no node was open.
  EventIndex node_of(std::size_t report) const { return node_of_report_[report]; }
  // Reports made while recording outside of any node, in order of time: torch lists them as events named "[memory]".
  const std::vector<std::uint32_t>& outside() const { return outside_; }

 private:
  void attribute(const trace::Recording& recording, const EventTree& tree);

  trace::Column<MemoryDelta> self_;
  trace::Column<MemoryDelta> total_;
  std::vector<EventIndex> node_of_report_;
  std::vector<std::uint32_t> outside_;
};

// The bytes that each event allocated itself, on any device, frees not subtracted. Empty if the recording has no memory reports.
std::vector<std::int64_t> allocated_by_event(const trace::Recording& recording, const MemoryUse& use);

// Bytes of one report, on the side it counts for.
MINDTORCH_EXPORT MemoryDelta delta_of(const trace::MemoryColumns& memory, std::size_t report);

class MINDTORCH_EXPORT MemoryTotals {
 public:
  explicit MemoryTotals(const trace::Recording& recording);

  // Bytes allocated on a device just before `time_ns`, and just after it (reports at that time included). O(log reports).
  std::int64_t before(trace::Device device, std::int64_t time_ns) const;
  std::int64_t after(trace::Device device, std::int64_t time_ns) const;

 private:
  struct PerDevice {
    trace::Device device;
    // Bytes before the first report, as that report tells: the recording's baseline is older where a ring has dropped reports, or where
    // another thread allocated while the session was starting. It counts where nothing was reported.
    std::int64_t baseline = 0;
    std::vector<std::uint32_t> reports;  // in order of time
  };

  // After the reports that are earlier than `time_ns`, or not later.
  std::int64_t at(trace::Device device, std::int64_t time_ns, bool not_later) const;

  const trace::Recording* recording_;
  std::vector<PerDevice> devices_;
};

}  // namespace mindtorch::analyze

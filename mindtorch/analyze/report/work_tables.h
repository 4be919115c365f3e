// Work tables: ops, kernels, modules and source lines with their times, and who calls whom.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/report/phases.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// A row that is called by, calls, or launches another one.
struct WorkLink {
  std::uint32_t row = 0;  // index into WorkTables::ops, or into kernels where a link says so
  std::int64_t calls = 0;
  std::int64_t time_ns = 0;
  friend bool operator==(const WorkLink&, const WorkLink&) = default;
};

struct OpRow {
  std::string name;
  std::string place;                             // what else tells the row from others: shapes, a module or a line; empty in tables by name
  std::string_view kind;                         // "op", "scope", "kernel", ... or "module", "line"
  Cause phase = Cause::kUnknown;                 // in which it spends most time
  std::array<std::int64_t, kCauses> by_phase{};  // own time of host calls, and of the work that they launch
  std::int64_t calls = 0;
  std::int64_t total_ns = 0;  // a call inside a call of the same name counts once
  std::int64_t self_ns = 0;
  std::int64_t shortest_ns = 0;
  std::int64_t longest_ns = 0;
  std::int64_t device_ns = 0;       // of the device work launched inside
  std::int64_t self_device_ns = 0;  // launched by the row itself; of a kernel: its own time
  std::int64_t memory = 0;          // bytes allocated less bytes freed by the row itself

  // Only for the rows with most time: the most important first, and the time of the row itself in each of `bins` parts of the recording.
  std::vector<WorkLink> callers, callees, kernels;
  std::vector<std::int64_t> over_time;

  void add_call(std::int64_t duration_ns) {
    shortest_ns = calls == 0 ? duration_ns : std::min(shortest_ns, duration_ns);
    longest_ns = std::max(longest_ns, duration_ns);
    ++calls;
  }
  friend bool operator==(const OpRow&, const OpRow&) = default;
};

struct WorkTables {
  std::vector<OpRow> ops;      // most time of their own first, on host and device together
  std::vector<OpRow> kernels;  // and copies, fills, collectives; their callers are ops
  std::vector<OpRow> modules;
  std::vector<OpRow> lines;                                      // innermost lines of the user's own code; needs stacks
  std::vector<OpRow> ops_by_shapes, ops_by_module, ops_by_line;  // as `ops`, told apart by OpRow::place
  std::size_t ops_left_out = 0;
  std::size_t kernels_left_out = 0;
};

struct WorkTableOptions {
  std::size_t most_rows = 1500;  // of each table
  std::size_t rows_with_links = 300;
  std::size_t most_links = 12;
  std::size_t bins = 100;
};

// O(events).
MINDTORCH_EXPORT WorkTables work_tables(const Analysis& analysis, const Phases& phases, const WorkTableOptions& options = {});

// True for host events that tables list: ops, scopes and calls of a runtime, but neither steps nor hidden names.
bool is_host_work(const Analysis& analysis, EventIndex event);
// A row with the name and kind of an event, and no calls.
OpRow row_for(const Analysis& analysis, EventIndex event);
// Adds a call on the host to its row.
void add_host_call(OpRow& row, const Analysis& analysis, const Phases& phases, EventIndex event);
// Sets the phase of rows to that with most time.
void settle_phases(std::vector<OpRow>& rows);

}  // namespace mindtorch::analyze

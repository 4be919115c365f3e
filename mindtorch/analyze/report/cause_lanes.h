// Cause lanes: for each thread and for the devices, where the time of a step goes, as rows that add up to the whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/report/phases.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

class Ledger;

struct CauseRow {
  std::string_view cause;  // cause_name(), "kernels", ...; of a device that idles: what the host does meanwhile
  std::string label;       // the op, the function or the kernel; empty for the rest of a cause
  std::string line;        // of the user's code; empty if it is not known
  std::int64_t ns_per_step = 0;
  double share = 0;      // of the time of the lane
  bool is_idle = false;  // of a device
};

struct CauseLane {
  std::string name;  // "python 12", "4 threads worker", "device"
  bool is_device = false;
  bool is_main = false;
  std::int64_t ns_per_step = 0;
  std::vector<CauseRow> rows;  // most time first
};

// The thread of the loop first, then the devices, then other threads that did something, those of one name as one lane.
std::vector<CauseLane> cause_lanes(const Analysis& analysis, const Phases& phases, const Ledger& ledger, std::size_t most_rows = 16);

}  // namespace mindtorch::analyze

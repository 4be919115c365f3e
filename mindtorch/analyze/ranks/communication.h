// Communication: collectives of a job by name, group and size, with what they cost and the bandwidth they reached.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/analyze/ranks/matching.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

struct CommunicationRow {
  std::string name;
  std::string group;
  std::int64_t bytes = -1;  // of one message; -1 if the recordings do not tell
  std::uint64_t count = 0;
  std::size_t ranks = 0;        // most that took part in one
  double seconds = 0;           // mean over ranks, all calls together
  double transfer_seconds = 0;  // the part of it that no rank spends waiting for another: the shortest part of each call
  double waiting_seconds = 0;   // the rest
  double bandwidth = 0;         // bytes per second of the transfer; 0 if the size is not known
  double bus_bandwidth = 0;     // the same, times what each link carries
};

// With most time first.
MINDTORCH_EXPORT std::vector<CommunicationRow> communication(const Matching& matching);

}  // namespace mindtorch::analyze

// Finds the collectives of one rank in its recording.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/ranks/collective_kind.h"

namespace mindtorch::analyze {

// A collective as the recording tells it. Times are those of the recording.
struct FoundCollective {
  EventIndex event = kNoEvent;
  EventIndex call = kNoEvent;  // of a message: the op that began it, if it is another event
  std::string name;            // a kind of collective, or the recorded name of one that is unknown
  std::string group;           // empty if the recording does not tell
  CollectiveKind kind = CollectiveKind::kOther;
  std::int32_t group_size = -1;
  std::int64_t sequence = -1;
  std::int64_t bytes = -1;
  std::int64_t peer = -1;  // of a message: the place of the other rank in the group
  std::int64_t tag = -1;   // of a message
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool is_finished = true;  // else it ends with the recording
};

// The attributes that tell about collectives.
std::span<const std::string_view> collective_attributes();

// True if an event of the host stands for the time a collective takes, from its call to its end. Calls of NCCL and HCCL do not: their
// work is on the device.
bool is_host_collective(std::string_view name);

// In order of their start: those on devices if the recording has any, and otherwise those of the host, which Gloo, MPI and UCC report.
std::vector<FoundCollective> find_collectives(const Analysis& analysis);

}  // namespace mindtorch::analyze

// RankIdentity: which process of a job made a recording.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mindtorch::trace {

// A process group, as torch's "distributedInfo" lists it.
struct RankGroup {
  std::string name;
  std::vector<std::int64_t> ranks;  // empty if the recording does not list them
  std::int64_t collectives = -1;    // that the group began from the start of the recording to RankIdentity::counted_until_ns
  friend bool operator==(const RankGroup&, const RankGroup&) = default;
};

// Numbers are -1 and texts are empty where the recording does not tell.
struct RankIdentity {
  std::int64_t rank = -1;
  std::int64_t local_rank = -1;
  std::int64_t world_size = -1;
  std::string host;
  std::string backend;
  std::vector<RankGroup> groups;
  std::int64_t counted_until_ns = INT64_MAX;  // Unix time; summaries of ranks do not keep it and the counts
  friend bool operator==(const RankIdentity&, const RankIdentity&) = default;
};

}  // namespace mindtorch::trace

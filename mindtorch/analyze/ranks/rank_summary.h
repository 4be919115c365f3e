// RankSummary: what the comparison of a job's ranks needs from one rank, at most a megabyte however long the recording is.
//
// Times are Unix nanoseconds of the clock of the rank's own machine.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/ranks/collective_kind.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/rank_identity.h"

namespace mindtorch::analyze {

// What the moments of a step were spent on. The times of a step add up to its duration. On a rank with device work they describe the
// device; on other ranks, the host.
enum class TimeUse : std::uint8_t {
  kCompute,  // ops or kernels
  kCopy,     // copies of a device beside which nothing computes
  kExposed,  // communication beside which nothing computes
  kData,     // idle: the host loads data
  kLaunch,   // idle: work is launched and has not begun
  kHost,     // idle: the host does something else, such as Python
};
inline constexpr std::size_t kTimeUses = 6;
MINDTORCH_EXPORT std::string_view time_use_name(TimeUse use);  // "compute", "copy", "exposed communication", ...

struct RankStep {
  std::int64_t number = 0;
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::array<std::int64_t, kTimeUses> use{};
  std::int64_t hidden_ns = 0;  // communication beside which something computes
  // All time but the communication beside which nothing computes. The steps of ranks that wait for each other are equally long, but the
  // slow rank is busy for longer.
  std::int64_t busy_ns() const { return duration_ns - use[static_cast<std::size_t>(TimeUse::kExposed)]; }
  friend bool operator==(const RankStep&, const RankStep&) = default;
};

struct RankCollective {
  std::uint32_t name = 0;   // index into RankSummary::names
  std::uint32_t group = 0;  // the same; the empty name if the recording does not tell
  CollectiveKind kind = CollectiveKind::kOther;
  bool is_finished = true;  // else it had not ended when the recording stopped
  std::int32_t group_size = -1;
  std::int64_t step = -1;      // the number of the step it starts in; -1 outside of steps
  std::int64_t sequence = -1;  // its number in the group, if the recording tells
  std::int64_t bytes = -1;     // of the message; -1 if the recording does not tell
  std::int32_t peer = -1;      // of send and recv: the rank of the other side; -1 if the recording does not tell
  std::int32_t tag = -1;       // of send and recv, if the recording tells
  std::int64_t start_ns = 0;   // when this rank began to take part
  std::int64_t end_ns = 0;
  friend bool operator==(const RankCollective&, const RankCollective&) = default;
};

// The time that one op, scope or kernel took in each step. Waiting for other ranks inside of a scope does not count.
struct RankWork {
  enum class Kind : std::uint8_t { kOp, kScope, kKernel, kPython };
  std::string name;
  Kind kind = Kind::kOp;
  std::vector<float> seconds;  // by step
  friend bool operator==(const RankWork&, const RankWork&) = default;
};
MINDTORCH_EXPORT std::string_view work_kind_name(RankWork::Kind kind);  // "op", "scope", "kernel", "python"

struct RankMemory {
  trace::Device device;
  std::int64_t peak_bytes = 0;
  friend bool operator==(const RankMemory&, const RankMemory&) = default;
};

// What a device did from its first work to its last. Compute is kernels that are not collectives.
struct RankDevice {
  trace::Device device;
  std::int64_t span_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t overlap_ns = 0;  // of compute and communication
  std::int64_t idle_ns = 0;     // nothing runs, copies included
  friend bool operator==(const RankDevice&, const RankDevice&) = default;
};

struct RankSummary {
  trace::RankIdentity identity;
  std::string file;
  std::string damage;  // what is wrong with the file; empty if it is whole
  std::uint64_t events = 0;
  std::uint64_t lost_events = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool has_device_work = false;
  bool has_step_marks = false;              // false: the whole recording counts as one step
  std::vector<std::string> names{""};       // of collectives and groups
  std::vector<RankStep> steps;              // in order of time
  std::vector<RankCollective> collectives;  // in order of their start
  std::vector<RankWork> work;               // with most time first
  std::vector<RankDevice> devices;
  std::vector<RankMemory> memory;
  // What did not fit into the summary: the oldest steps and collectives.
  std::uint64_t steps_left_out = 0;
  std::uint64_t collectives_left_out = 0;
  friend bool operator==(const RankSummary&, const RankSummary&) = default;
};

// The limits that keep a summary below a megabyte.
inline constexpr std::size_t kMostRankSteps = 4096;
inline constexpr std::size_t kMostRankCollectives = 6144;
inline constexpr std::size_t kMostRankWorkValues = 65536;  // steps times rows of work
inline constexpr std::size_t kMostRankWork = 128;
inline constexpr std::size_t kLongestRankName = 200;  // bytes; longer names are cut

// The attributes of events that a summary is made from. A reader may leave out all others.
MINDTORCH_EXPORT std::vector<std::string_view> rank_attributes();

// Only the identity is taken from `identity`; file and damage are for the caller to set. O(events * log events).
MINDTORCH_EXPORT RankSummary summarize_rank(const Analysis& analysis, const trace::RankIdentity& identity);

}  // namespace mindtorch::analyze

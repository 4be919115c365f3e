// Job: everything that the summaries of a job's ranks tell together.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/ranks/clock_alignment.h"
#include "mindtorch/analyze/ranks/communication.h"
#include "mindtorch/analyze/ranks/critical_path.h"
#include "mindtorch/analyze/ranks/rank_summary.h"
#include "mindtorch/analyze/ranks/stragglers.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// Something that is wrong with the recordings. The rest is answered all the same.
struct JobFault {
  enum class Kind : std::uint8_t {
    kUnreadable,      // a file that cannot be read
    kDamaged,         // a file of which only the beginning can be read
    kMissing,         // no file of a rank
    kDuplicate,       // several files of a rank
    kNoRank,          // a file that does not tell its rank
    kDifferentSteps,  // a rank that recorded other steps than most ranks
    kEndedEarly,      // a rank whose last step is before that of most ranks
    kClockJump,       // a clock that was set while it was used
    kNoClock,         // no collective connects the clock with the others
    kUnmatched,       // collectives without a counterpart
    kUnknownGroups,   // there are several groups, and collectives do not tell which one is theirs
    kLeftOut,         // more steps or collectives than a summary holds
    kLostEvents,
    kNotCompared,  // ranks that do not meet in collectives, or meet in calls that are not matched
    kNoTrace,      // a file of JSON that is no trace, such as an answer of mtprof that was kept beside the recordings
  };
  Kind kind = Kind::kUnreadable;
  std::int64_t rank = -1;  // -1 if it is not known
  std::string file;
  std::string text;
  friend bool operator==(const JobFault&, const JobFault&) = default;
};
MINDTORCH_EXPORT std::string_view job_fault_name(JobFault::Kind kind);  // "unreadable", ...

// Means over the steps that all ranks recorded.
struct JobRank {
  double step_seconds = 0;
  std::array<double, kTimeUses> use{};
  double hidden_seconds = 0;
  double waiting_seconds = 0;  // per step, for other ranks
};

struct JobStep {
  std::int64_t number = 0;
  std::size_t ranks = 0;  // that recorded it
  std::int64_t shortest_ns = 0;
  std::int64_t median_ns = 0;
  std::int64_t longest_ns = 0;
  std::size_t slowest = 0;  // index into Job::ranks
  bool is_outlier = false;  // its median is far above that of the other steps
};

// A row of work whose time differs between ranks.
struct Imbalance {
  std::string name;
  RankWork::Kind kind = RankWork::Kind::kOp;
  double median_seconds = 0;  // per step
  double most_seconds = 0;
  std::size_t rank = 0;  // index into Job::ranks: the one with most
};

struct Job {
  std::vector<RankSummary> summaries;  // by rank
  std::vector<JobRank> ranks;          // one for each summary
  std::vector<JobFault> faults;
  std::int64_t world_size = -1;  // -1 if no recording tells it
  Matching matching;
  ClockAlignment clocks;
  std::vector<JobStep> steps;  // those of any rank, by number
  std::vector<Straggler> stragglers;
  std::vector<CommunicationRow> communication;
  std::vector<PathPiece> path;
  std::vector<Imbalance> imbalance;  // of work, with the largest difference first
  double compute_imbalance = 0;      // largest compute time of a rank over the mean, minus one

  // Whether there is a collective or a message in which ranks wait for each other.
  bool meets() const { return std::ranges::any_of(matching.collectives, &MatchedCollective::meets); }
};

// `faults` are those found while the files were read. The summaries may come in any order; of those with an equal rank, the one with most
// steps counts, and the latest of these. Linear in the number of ranks.
MINDTORCH_EXPORT Job reduce_ranks(std::vector<RankSummary> summaries, std::vector<JobFault> faults = {});

}  // namespace mindtorch::analyze

// Merges the recordings of several ranks into one, on one clock, so that they can be shown in one timeline.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "mindtorch/analyze/ranks/job.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/builder.h"

namespace mindtorch::analyze {

// The attribute of collectives that are the same one on several ranks: exporters draw arrows between those with an equal value.
inline constexpr std::string_view kCollectiveFlowKey = "Collective flow";

// Steps from `first` to `last`, both included.
struct StepRange {
  std::int64_t first = INT64_MIN;
  std::int64_t last = INT64_MAX;
};

class MINDTORCH_EXPORT RankMerger {
 public:
  // The job tells clocks and matched collectives; it must outlive the merger. Of each rank, events of the given steps are taken; all events
  // if the rank has no steps.
  RankMerger(const Job& job, StepRange steps);

  // Adds the recording that a summary of the job was made from. Its process gets the rank as its number. Names, times, links and
  // attributes are kept; arguments, stacks and memory reports are left out.
  void add(std::size_t summary, const trace::Recording& recording);

  // The merged recording. The merger is empty afterwards.
  trace::Recording finish();

 private:
  struct Window {
    std::int64_t start_ns, end_ns;  // Unix time of the rank's clock
  };
  Window window_of(const RankSummary& summary) const;
  std::vector<trace::TrackId> add_tracks(const trace::Recording& recording, std::int64_t rank);
  std::uint64_t own_link(trace::EventKind kind, std::uint64_t link);
  void add_attributes(const trace::Recording& recording, EventIndex event, trace::RecordingBuilder::DraftId draft);

  const Job& job_;
  const StepRange steps_;
  trace::RecordingBuilder builder_;
  std::uint64_t added_ = 0;  // ranks so far
  // What the numbers of the rank at hand have become. No two ranks have the same, and they are small: viewers lose the end of long ones.
  std::unordered_map<std::uint64_t, std::uint64_t> correlations_, sequences_;
  std::unordered_map<std::uint32_t, std::uint32_t> threads_;
  std::uint64_t last_correlation_ = 0, last_sequence_ = 0;
  // By rank: the start of its part in a collective -> the number of the collective.
  std::vector<std::unordered_map<std::int64_t, std::int64_t>> collective_at_;
};

}  // namespace mindtorch::analyze

// Timeline view: all slices and counters of a few steps, for a picture that can be zoomed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/counters.h"
#include "mindtorch/analyze/report/phases.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

struct TimelineSlice {
  EventIndex event = 0;
  std::uint32_t depth = 0;
  std::int32_t launched_by = -1;  // of a device slice: the index of the host slice in `slices` of the view, or -1
};

struct TimelineTrack {
  std::string name;  // "python 12", "thread 12", "CUDA:0 stream 7"
  bool is_device = false;
  std::uint32_t first_slice = 0;  // index into TimelineView::slices
  std::uint32_t slice_count = 0;
};

struct TimelineView {
  std::string title;  // "step 12: typical"
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::vector<TimelineTrack> tracks;
  std::vector<TimelineSlice> slices;  // by track, in order of start; the thread of the loop comes first
  std::vector<Counter> counters;      // thinned out: of each part of the time, the largest value
  std::uint64_t left_out = 0;         // the shortest slices, if there are too many
};

struct TimelineOptions {
  std::size_t most_slices = 100'000;       // of the first view
  std::size_t most_other_slices = 15'000;  // of each other view: the page must stay small
  std::size_t most_points = 800;           // of each counter
};

// A typical step, the slowest one and the first one; without steps, the recording as a whole.
MINDTORCH_EXPORT std::vector<TimelineView> timeline_views(const Analysis& analysis, const Phases& phases,
                                                          const TimelineOptions& options = {});

}  // namespace mindtorch::analyze

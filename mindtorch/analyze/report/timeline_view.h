// Timeline view: all slices of a few steps, for a picture that can be zoomed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/report/phases.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

struct TimelineSlice {
  EventIndex event = 0;
  std::uint32_t depth = 0;
  std::int32_t launched_by = -1;  // of a device slice: the index of the host slice in `slices` of the view, or -1
};

struct TimelineTrack {
  std::string name;  // "thread 12 (python)", "cuda:0 stream 7"
  bool is_device = false;
  std::uint32_t first_slice = 0;  // index into TimelineView::slices
  std::uint32_t slice_count = 0;
};

struct TimelineView {
  std::string title;  // "step 12: typical"
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::vector<TimelineTrack> tracks;
  std::vector<TimelineSlice> slices;  // by track, in order of start
  std::uint64_t left_out = 0;         // the shortest, if there are too many
};

// A typical step, the slowest one and the first one; without steps, the recording as a whole.
MINDTORCH_EXPORT std::vector<TimelineView> timeline_views(const Analysis& analysis, const Phases& phases, std::size_t most_slices = 25'000);

}  // namespace mindtorch::analyze

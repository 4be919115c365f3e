// Attribution: one moment, one cause. The recorded time of each host thread is cut into segments, each with exactly one cause and, where it
// is known, with the line of the program that asked for it.
//
// The innermost event decides. Where no event says anything, recorded Python calls and samples of the thread do; without either, autograd
// and collectives on other threads explain what the main thread waits for, and the rest is kUnknown. docs/design/causes.md has the rules.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mindtorch/analyze/causes.h"
#include "mindtorch/analyze/places.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

class Analysis;

struct Segment {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  EventIndex event = kNoEvent;  // the innermost event that is open; kNoEvent between events
  PlaceId place = kNoPlace;
  Cause cause = Cause::kUnknown;
  bool is_seen = false;  // the place is known of this very moment, and not that of a look before it

  std::int64_t duration_ns() const { return end_ns - start_ns; }
  friend bool operator==(const Segment&, const Segment&) = default;
};

// The time from the first to the last thing that was recorded.
struct RecordedTime {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};
MINDTORCH_EXPORT RecordedTime recorded_time(const trace::Recording& recording);

class MINDTORCH_EXPORT Attribution {
 public:
  // O(events + samples); 32 bytes per segment.
  explicit Attribution(const Analysis& analysis);

  // The thread that the program's loop runs on: that of the steps, else the busiest one of the process.
  trace::TrackId main_track() const { return main_track_; }
  // In order of time, without gaps and overlaps, over the whole recorded time; empty for streams, and in a
  // recording without threads.
  std::span<const Segment> of(trace::TrackId track) const {
    return track < lanes_.size() ? std::span<const Segment>(lanes_[track]) : std::span<const Segment>();
  }
  const Place& place(PlaceId id) const { return places_[id]; }
  // The place of a thread at a moment.
  PlaceId place_at(trace::TrackId track, std::int64_t time_ns) const;
  const EventCauses& causes() const { return causes_; }
  RecordedTime time() const { return time_; }
  // Samples were taken, or all Python calls were recorded: time outside of ops has names.
  bool sees_python() const { return sees_python_; }

 private:
  class Lane;

  const Analysis* analysis_;
  EventCauses causes_;
  Places places_;
  RecordedTime time_;
  trace::TrackId main_track_ = 0;
  bool sees_python_ = false;
  std::vector<std::vector<Segment>> lanes_;  // by track
};

// The thread that the program's loop runs on; 0 if there is none.
trace::TrackId find_main_track(const Analysis& analysis);

}  // namespace mindtorch::analyze

// CounterTrack: a quantity of a device that was measured over time, such as its power.
//
// Design: a recording has few tracks and many samples, so each track holds its own two columns, 16 bytes per sample, in order of time. A
// source reports samples in ticks of its clock (record::CounterSeries). They share the memory budget and the policies of its records:
// keep_last drops the old ones, spill writes them to the file, and what does not fit is counted. In a file, one chunk holds samples of one
// track together with the identity of the track.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::trace {

struct CounterTrack {
  std::string name;                    // "power"; with unit and device, the identity of the track
  std::string unit;                    // "W", "%"; may be empty
  Device device;                       // the CPU: a quantity of the host
  std::vector<std::int64_t> times_ns;  // sorted
  std::vector<double> values;          // finite; values[k] was measured at times_ns[k]

  std::size_t size() const { return values.size(); }
  friend bool operator==(const CounterTrack&, const CounterTrack&) = default;
};

// The track with this identity, which is added if it is not there.
MINDTORCH_EXPORT CounterTrack& find_or_add_counter(std::vector<CounterTrack>& counters, std::string_view name, std::string_view unit,
                                                   Device device);

// Joins tracks of the same identity, in the order in which they first came. O(n log n).
void join_counters(std::vector<CounterTrack>& counters);

// Sorts the samples by time; those of equal time stay as they came.
MINDTORCH_EXPORT void order_samples(CounterTrack& counter);

// Returns a sentence about what is wrong with the tracks, empty if nothing is.
std::string check_counters(const std::vector<CounterTrack>& counters);

}  // namespace mindtorch::trace

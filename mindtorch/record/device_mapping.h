// Puts the records of sources on the timeline of the host. Internal to record.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mindtorch/record/launch_matching.h"
#include "mindtorch/record/segment_reader.h"
#include "mindtorch/record/source.h"
#include "mindtorch/record/tick_mapping.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::record {

// The mapping of a source's clock: device ticks -> session ticks by bracketed samples -> nanoseconds by `session`. The bound of the result
// holds for records between the first and the last sample. Throws InvalidArgument if the clock gave no sample.
TickMapping map_source_clock(const SourceClock& clock, TickMapping& session);

// Appends every record as an event, at the time to which `session` maps it: streams become tracks, and calls go to the track of their
// thread. `track_of_event` grows along with the events. Calls that started before `window_start`, in ticks of the session's clock, are left
// out together with the work that they launched, and so is work without a call that started earlier. Returns how many records were left
// out; the others are added to `matching`.
std::size_t add_device_records(const DeviceBatch& batch, TickMapping& session, std::uint64_t window_start, IdMaps& ids,
                               trace::Recording& out, std::vector<trace::TrackId>& track_of_event, LaunchMatching& matching);

// Appends the samples of counters to the tracks of the recording. Those before `window_start` are left out; returns how many.
std::size_t add_counters(const DeviceBatch& batch, TickMapping& session, std::uint64_t window_start, trace::Recording& out);

// Appends the samples of threads, those of a thread to its track. What lies before `window_start` is left out; returns how many were.
std::size_t add_thread_samples(const DeviceBatch& batch, TickMapping& session, std::uint64_t window_start, IdMaps& ids,
                               trace::Recording& out);

// Adds what a source says about its clocks and devices, and counts records that were left out, dropped or could not be linked, so that
// launches seen = device records seen + launches without a device record.
void add_source_facts(const DeviceBatch& batch, std::string_view source_name, TickMapping& session, const LaunchMatching& matching,
                      std::uint64_t left_out, trace::Recording& out);

// All of these, for a batch that holds all records of its source.
void add_device_batch(const DeviceBatch& batch, std::string_view source_name, TickMapping& session, std::uint64_t window_start, IdMaps& ids,
                      trace::Recording& out, std::vector<trace::TrackId>& track_of_event);

}  // namespace mindtorch::record

// Puts the records of sources on the timeline of the host. Internal to record.
#pragma once

#include <span>
#include <vector>

#include "mindtorch/record/segment_reader.h"
#include "mindtorch/record/source.h"
#include "mindtorch/record/tick_mapping.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::record {

// The mapping of a source's clock: device ticks -> session ticks by bracketed samples -> nanoseconds by `session`. The bound of the result
// holds for records between the first and the last sample. Throws InvalidArgument if the clock gave no sample.
TickMapping map_source_clock(const SourceClock& clock, TickMapping& session);

// Appends every record as an event: streams become tracks, and launches go to the track of their thread. Counts records that were dropped
// or could not be linked, so that launches seen = device records seen + launches without a device record. `track_of_event` grows along with
// the events.
void add_device_batch(const DeviceBatch& batch, std::string_view source_name, TickMapping& session, IdMaps& ids, trace::Recording& out,
                      std::vector<trace::TrackId>& track_of_event);

}  // namespace mindtorch::record

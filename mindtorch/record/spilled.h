// Reads the events that a session has spilled. The file must be the one that the session wrote; if it is not complete, the loss is
// reported.
#pragma once

#include <string>

#include "mindtorch/trace/recording_reader.h"

namespace mindtorch::record {

// Keys of Recording::metadata that lead from the recording that stop() returns to its events. The identity is random. It is also at the
// start of the file, so that a truncated file still has it.
inline constexpr const char* kSpillFile = "spill_file";      // path of the file
inline constexpr const char* kSpillId = "spill_id";          // identity of the session
inline constexpr const char* kSpillEvents = "spill_events";  // how many events the file was given

// Returns `summary`, which Session::stop() returned, with the events of `file`, which was read from `path`. Events that are no longer in
// the file are counted as a loss of reason kDamagedFile. Throws IoError if the file now contains another recording.
trace::Recording merge_spilled(const trace::Recording& summary, trace::LoadResult file, const std::string& path);

}  // namespace mindtorch::record

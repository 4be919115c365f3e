// Reads the events that a session has spilled. The file must be the one that the session wrote; if it is not complete, the loss is
// reported.
#pragma once

#include <string>

#include "mindtorch/trace/recording_reader.h"

namespace mindtorch::record {

// Keys of Recording::metadata by which the recording that stop() returns finds its events again. The identity is random; it also stands at
// the start of the file, so that a file that was cut still has it.
inline constexpr const char* kSpillFile = "spill_file";      // path of the file
inline constexpr const char* kSpillId = "spill_id";          // identity of the session
inline constexpr const char* kSpillEvents = "spill_events";  // how many events the file was given

// The events of `file`, which was read from `path`, with everything else as in `summary`, which Session::stop() returned. Events that are
// no longer in the file are a loss of reason kDamagedFile. Throws IoError if the file holds another recording by now.
trace::Recording merge_spilled(const trace::Recording& summary, trace::LoadResult file, const std::string& path);

}  // namespace mindtorch::record

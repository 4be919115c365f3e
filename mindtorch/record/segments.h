// Gives a log its next segment, and applies the session's policy to the segments that it has. Internal to record.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mindtorch/record/log_storage.h"

namespace mindtorch::record {

// Ends the log's current segment and starts a new one. Returns false if that is refused, which is counted in `refusals`, or if the session
// is over. Called on the log's own thread.
bool new_segment(Log& log, std::atomic<std::uint64_t>& refusals) noexcept;

// Releases the segments of the log that are older than what keep_last keeps. The segment that is being written is never released. Called on
// the log's own thread, under its lock. Throws std::bad_alloc.
void drop_oldest(SessionCore& session, LogStorage& cold);

// The same for a log whose thread has ended; under its lock. Returns true if nothing is left that the recording needs.
bool drop_ended(SessionCore& session, Log& log) noexcept;

// A segment can be spilled or dropped only after it has ended. One with so many chunks of side data ends early if the policy demands it.
inline constexpr std::size_t kManySideChunks = 4;

// Prepares for a side entry that belongs to no event, when the current chunk is full: starts a new segment if the current one has many
// chunks and either no events, because no event would ever end it, or a share of a budget that is used up. Returns false if the entry is
// refused, which is counted, or if the session is over. Called on the log's own thread.
bool make_room_for_loose_entry(Log& log) noexcept;

}  // namespace mindtorch::record

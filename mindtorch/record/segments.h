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

// keep_last: the same for threads that have ended, the first that ended first. Under the lock of the registry. Throws std::bad_alloc.
void drop_ended(SessionCore& session);

// Hands over what a thread that ends has recorded: to the spill, or to SessionCore::ended. If memory for that is missing, the events are
// counted as refused. Under the lock of the registry.
void retire(SessionCore& session, SealedLog log) noexcept;

// Counts what a log holds as refused, because there is no memory to hand it over, and takes the log out of the session. Memory that a
// thread may still write to stays where it is for good. Under the locks of the registry and of the log.
void lose(SessionCore& session, Log& log) noexcept;
// The same for a log that has been taken out.
void lose(SessionCore& session, const SealedLog& log) noexcept;

// A segment can be spilled or dropped only after it has ended. One with so many chunks of side data ends early if the policy demands it.
inline constexpr std::size_t kManySideChunks = 4;

// Prepares for a side entry that belongs to no event, when the current chunk is full: starts a new segment if the current one has many
// chunks and either no events, because no event would ever end it, or a share of a budget that is used up. Returns false if the entry is
// refused, which is counted, or if the session is over. Called on the log's own thread.
bool make_room_for_loose_entry(Log& log) noexcept;

}  // namespace mindtorch::record

// The chunks of a recording file besides pieces of events and the summary: how each is packed and unpacked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/trace/bytes.h"
#include "mindtorch/trace/chunk_file.h"
#include "mindtorch/trace/clock_mapping.h"
#include "mindtorch/trace/piece.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

// A chunk refers only to names, tracks, frames and stacks of earlier chunks. If there are several clocks, several summaries, or several
// tracks with the same id, the last one is used. All other chunks are appended. A complete file ends with kEnd.
inline constexpr ChunkType kNamesChunk = make_chunk_type("NAME");
inline constexpr ChunkType kTrackChunk = make_chunk_type("TRCK");
inline constexpr ChunkType kFramesChunk = make_chunk_type("FRAM");
inline constexpr ChunkType kStacksChunk = make_chunk_type("STCK");
inline constexpr ChunkType kClockChunk = make_chunk_type("CLCK");
inline constexpr ChunkType kEventsChunk = make_chunk_type("EVNT");
inline constexpr ChunkType kLateChunk = make_chunk_type("LATE");
inline constexpr ChunkType kMemoryChunk = make_chunk_type("MEMO");
inline constexpr ChunkType kSamplesChunk = make_chunk_type("SMPL");
inline constexpr ChunkType kTagsChunk = make_chunk_type("TAGS");
inline constexpr ChunkType kStepsChunk = make_chunk_type("STEP");
inline constexpr ChunkType kCountersChunk = make_chunk_type("CNTR");
inline constexpr ChunkType kPatchesChunk = make_chunk_type("PTCH");
inline constexpr ChunkType kSummaryChunk = make_chunk_type("SUMM");
inline constexpr ChunkType kEndChunk = make_chunk_type("END ");

// What an event has become whose piece was written while it was open.
struct PatchedEnd {
  TrackId track = 0;
  std::uint64_t ordinal = 0;  // of the event in its track
  std::uint64_t end_tick = 0;
  std::uint8_t flags = 0;  // set in addition to those it was written with
  std::uint64_t link = 0;  // 0: the one it was written with
  friend bool operator==(const PatchedEnd&, const PatchedEnd&) = default;
};

// Each decode function throws Malformed and then leaves `into` unchanged. Ids are numbered from the first that is not there yet.
void encode_names(std::size_t first, std::span<const std::string_view> names, ByteWriter& out);
void decode_names(ByteReader& in, Recording& into);
void encode_track(TrackId id, const Track& track, ByteWriter& out);
void decode_track(ByteReader& in, Recording& into);  // event_count is what the file promises, first_event 0
void encode_frames(std::size_t first, std::span<const Frame> frames, ByteWriter& out);
void decode_frames(ByteReader& in, Recording& into);
// Stacks [first, last).
void encode_stacks(const Stacks& stacks, std::size_t first, std::size_t last, ByteWriter& out);
void decode_stacks(ByteReader& in, Recording& into);
void encode_clock(const ClockMapping& mapping, ByteWriter& out);
ClockMapping decode_clock(ByteReader& in);
void encode_tags(std::span<const MemoryTag> tags, ByteWriter& out);
void decode_tags(ByteReader& in, Recording& into);
void encode_steps(std::span<const StepMark> steps, ByteWriter& out);
void decode_steps(ByteReader& in, Recording& into);
// Samples [first, first + count) of a counter, with its identity. Decoding adds a track, whatever its identity is.
void encode_counter(const CounterTrack& counter, std::size_t first, std::size_t count, ByteWriter& out);
void decode_counter(ByteReader& in, Recording& into);
void encode_patches(std::span<const PatchedEnd> patches, ByteWriter& out);
// Before format 1.4, patches had no link.
std::vector<PatchedEnd> decode_patches(ByteReader& in, std::uint8_t minor = kFormatMinor);

}  // namespace mindtorch::trace

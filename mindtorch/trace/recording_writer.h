// RecordingWriter: writes a recording in parts. save() writes a whole recording with it. A spilling session appends sealed pieces while
// recording goes on; if it is killed, everything that was written before is readable.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "mindtorch/trace/bytes.h"
#include "mindtorch/trace/chunk_file.h"
#include "mindtorch/trace/clock_mapping.h"
#include "mindtorch/trace/piece.h"
#include "mindtorch/trace/recording.h"
#include "mindtorch/trace/recording_chunks.h"

namespace mindtorch::trace {

// Calls come from one thread at a time. Each makes one write() of one chunk (names and stacks: one for every few MB). Names, tracks and
// stacks that a call refers to must have been added before, and for ticks a clock. Wrong arguments throw InvalidArgument. IoError means
// that the last chunk was not written. The file is then still valid, and the call may be repeated.
class RecordingWriter {
 public:
  // As for ChunkWriter.
  RecordingWriter(ChunkTarget& target, std::string path, int zstd_level = 1);
  RecordingWriter(int fd, std::string path, int zstd_level = 1);

  // Names first_id, first_id + 1, ...; those written before are skipped, so that a caller may hand over all it has. Name 0 is always "".
  void add_names(NameId first_id, std::span<const std::string_view> names);
  NameId name_count() const noexcept { return static_cast<NameId>(names_); }
  // A new track has the id track_count(). Adding a track again replaces it. event_count may be 0, which means unknown.
  void add_track(TrackId id, const Track& track);
  TrackId track_count() const noexcept { return static_cast<TrackId>(tracks_); }
  // Frames and stacks of `stacks` that have not been written yet.
  void add_stacks(const Stacks& stacks);
  // Sets the mapping from ticks to nanoseconds. The last mapping applies to all ticks of the file.
  void add_clock(const ClockMapping& mapping);

  // Returns the number of the piece in the file.
  std::size_t add_piece(const Piece& piece);
  // Rows of events whose piece was written before they came.
  void add_late_rows(const LatePiece& late);
  // Memory events, tags and steps in order of time. With kTicks, their time_ns holds ticks.
  void add_memory(const MemoryColumns& memory, TimeUnit unit);
  void add_memory(const MemoryColumns& memory, std::size_t first, std::size_t count, TimeUnit unit);
  // Samples of threads in order of time. With kTicks, their time_ns and duration_ns hold ticks.
  void add_samples(const SampleColumns& samples, std::size_t first, std::size_t count, TimeUnit unit);
  void add_tags(std::span<const MemoryTag> tags, TimeUnit unit);
  void add_steps(std::span<const StepMark> steps, TimeUnit unit);
  // Samples of counters. With kTicks, their times_ns hold ticks. Tracks of the same identity are joined when the file is read.
  void add_counter(const CounterTrack& counter, TimeUnit unit);
  // What has become of events that were open in their piece. Events that stay open are read as unfinished and counted.
  void add_patches(std::span<const PatchedEnd> patches);

  // Options, metadata, losses, memory baselines, clock and trace id of `recording`. May be called again: the last one counts.
  void add_summary(const Recording& recording);
  // Marks the file as complete. Nothing may be added afterwards.
  void finish();

  std::uint64_t bytes_written() const noexcept { return chunks_.offset(); }

 private:
  template <class Encode>
  void write(ChunkType type, Encode&& encode);
  void require_clock(TimeUnit unit) const;

  ChunkWriter chunks_;
  ByteWriter bytes_;
  PieceCodec codec_;
  std::size_t names_ = 1;
  std::size_t tracks_ = 0;
  std::size_t frames_ = 0;
  std::size_t stacks_ = 0;
  std::size_t pieces_ = 0;
  bool has_clock_ = false;
  bool finished_ = false;
};

}  // namespace mindtorch::trace

// The file of a spilling session, and its state while it is written. Internal to record.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "mindtorch/record/launch_matching.h"
#include "mindtorch/record/locked_file.h"
#include "mindtorch/record/log_storage.h"
#include "mindtorch/record/segment_reader.h"
#include "mindtorch/record/session_core.h"
#include "mindtorch/record/source.h"
#include "mindtorch/trace/recording_writer.h"

namespace mindtorch::record {

class StackProvider;
struct Ingredients;

// A slot that was open when it was written.
struct OpenSlot {
  std::uint32_t index = 0;
  trace::TrackId track = 0;
  std::uint64_t ordinal = 0;
};

// How much of a segment the file has. A segment may be written in parts while its thread fills it.
struct WrittenSegment {
  struct Part {
    std::size_t piece = 0;  // its number in the file
    std::uint32_t first_slot = 0;
    std::uint32_t slots = 0;
  };
  SegmentPosition position;
  std::vector<Part> parts;
  std::vector<OpenSlot> open;
  std::uint64_t loose_entries = 0;
  std::uint32_t slots() const { return parts.empty() ? 0 : parts.back().first_slot + parts.back().slots; }
};

// Used by one thread at a time. Every call throws IoError if the file could not be written; its earlier content stays readable.
class SpillFile {
 public:
  SpillFile(const std::string& path, SessionCore& core, StackProvider* provider);
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // Writes the summary that the file of a killed session has: `about`, which has no events.
  void begin(trace::Recording about);
  // Writes what the file does not have of a segment yet.
  void write(const ThreadIdentity& thread, const Segment& segment, WrittenSegment& written);
  // The thread has ended, and all of its segments are written. Records of sources may still come for its calls.
  void thread_ended(std::uint32_t number);
  // Writes the steps that the file does not have yet, and the clock if it has been sampled again.
  void write_steps();
  // Writes the records of a source, which may have more later.
  void write_records(const std::string& source, const DeviceBatch& batch);
  void write_ends(std::span<const trace::PatchedEnd> ends) { writer_.add_patches(ends); }
  // Writes the records of the sources, and the summary with the losses that this adds. Nothing may be written afterwards. Returns the
  // summary.
  trace::Recording finish(const Ingredients& from, trace::Recording summary);

  // The identity of the file: the value of kSpillId.
  const std::string& id() const { return id_; }
  std::uint64_t events_written() const { return events_written_; }
  std::uint64_t samples_written() const { return samples_written_; }

 private:
  trace::TrackId track_of_thread(const ThreadIdentity& thread);
  void put_track(trace::TrackId id, trace::Track track);
  void write_counters(const DeviceBatch& batch);
  // `ids`: in the file, of the tracks that the samples lie on.
  void write_samples(trace::SampleColumns& samples, const std::vector<trace::TrackId>& ids);
  void write_clock();
  void write_new_ids();
  std::size_t write_piece(trace::TrackId track, const trace::Recording& rows, trace::EventIndex first, trace::EventIndex count,
                          std::uint64_t ordinal);
  void write_late(LateRows& late, const WrittenSegment& written);

  SessionCore& core_;
  const std::string id_;  // as JSON
  LockedFile file_;
  trace::RecordingWriter writer_;
  std::vector<std::string> names_{""};
  trace::Stacks stacks_;
  IdMaps ids_;
  std::map<std::string, LaunchMatching> matching_;  // by source
  trace::TrackId track_count_ = 0;
  std::map<trace::TrackId, trace::Track> tracks_;  // without those of threads that ended long ago
  std::map<std::uint32_t, trace::TrackId> track_of_number_;
  std::map<std::int64_t, trace::TrackId> threads_of_calls_;                // by OS thread id: tracks that only sources have written to
  std::unordered_map<trace::TrackId, std::uint64_t> next_device_ordinal_;  // by track
  std::deque<std::uint32_t> ended_threads_;
  std::size_t samples_used_ = 0;
  std::size_t steps_written_ = 0;
  std::uint64_t events_written_ = 0;
  std::uint64_t samples_written_ = 0;  // of counters and threads
};

}  // namespace mindtorch::record

// The file of a spilling session, and its state while it is written. Internal to record.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mindtorch/record/launch_matching.h"
#include "mindtorch/record/log_storage.h"
#include "mindtorch/record/segment_reader.h"
#include "mindtorch/record/session_core.h"
#include "mindtorch/record/source.h"
#include "mindtorch/trace/recording_writer.h"

namespace mindtorch::record {

class StackProvider;
struct Ingredients;

// A slot that was open when its segment was written.
struct OpenSlot {
  std::uint32_t index = 0;
  trace::TrackId track = 0;
  std::uint64_t ordinal = 0;
};

// The slots of a segment that are open now, if it is the segment of `track`.
std::vector<OpenSlot> open_slots(const Segment& segment, trace::TrackId track);

// A file that this session alone writes. A file that another session is writing is refused, and so is everything but a regular file; the
// content of an earlier recording is dropped. Throws IoError.
struct LockedFile {
  explicit LockedFile(const std::string& path);
  ~LockedFile();
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  const int fd;
};

// Used by one thread at a time. Every call throws IoError if the file could not be written; its earlier content stays readable.
class SpillFile {
 public:
  SpillFile(const std::string& path, SessionCore& core, StackProvider* provider);
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // Writes a sealed segment. Returns its slots that are still open.
  std::vector<OpenSlot> write(const ThreadIdentity& thread, const Segment& segment);
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
  void add_track(trace::Track track);
  void write_counters(const DeviceBatch& batch);
  void write_clock();
  void write_new_ids();
  void write_piece(trace::TrackId track, const trace::Recording& rows, trace::EventIndex first, trace::EventIndex count,
                   std::uint64_t ordinal);

  SessionCore& core_;
  const std::string id_;  // as JSON
  LockedFile file_;
  trace::RecordingWriter writer_;
  std::vector<std::string> names_{""};
  trace::Stacks stacks_;
  IdMaps ids_;
  std::map<std::string, LaunchMatching> matching_;  // by source
  std::vector<trace::Track> tracks_;
  std::map<std::uint32_t, trace::TrackId> track_of_number_;
  std::map<std::int64_t, trace::TrackId> threads_of_calls_;  // by OS thread id: tracks that only sources have written to
  std::vector<std::uint64_t> next_device_ordinal_;           // of each track
  std::size_t samples_used_ = 0;
  std::uint64_t events_written_ = 0;
  std::uint64_t samples_written_ = 0;  // of counters
};

}  // namespace mindtorch::record

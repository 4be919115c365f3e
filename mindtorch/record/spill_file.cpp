// The file of a spilling session.
#include "mindtorch/record/spill_file.h"

#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "mindtorch/record/assemble.h"
#include "mindtorch/record/device_mapping.h"
#include "mindtorch/record/spilled.h"
#include "mindtorch/trace/ordering.h"

namespace mindtorch::record {
namespace {

std::string random_id() {
  std::random_device random;
  return fmt::format("\"{:08x}{:08x}{:08x}{:08x}\"", random(), random(), random(), random());
}

// Fits one line through the first and the last sample, because a file has one rate for all of its ticks.
trace::ClockMapping straight_line(const std::vector<ClockSample>& samples, Clock& clock) {
  TickMapping pieces = map_session_clock(samples, clock);
  trace::ClockMapping line;
  line.tick0 = samples.front().ticks;
  line.ns0 = 0;
  line.ns_per_tick = pieces.ns_per_tick();
  line.base_unix_ns = samples.front().unix_ns;
  line.name = clock.name();
  line.samples = samples.size();
  line.error_bound_ns = pieces.error_bound_ns();
  const trace::TickLine mapping(line);
  for (const ClockSample& sample : samples) {
    const std::int64_t off = mapping.to_ns(sample.ticks) - (sample.monotonic_ns - samples.front().monotonic_ns);
    line.error_bound_ns = std::max(line.error_bound_ns, std::abs(off) + pieces.error_bound_ns());
  }
  return line;
}

}  // namespace

std::vector<OpenSlot> open_slots(const Segment& segment, trace::TrackId track) {
  std::vector<OpenSlot> open;
  for (std::uint32_t i = 0; i < segment.used; ++i)
    if (is_open(segment.slots[i])) open.push_back({i, track, segment.first_ordinal + i});
  return open;
}

LockedFile::LockedFile(const std::string& path) : fd(open_regular_file(path)) {
  try {
    // The file is truncated only once we hold its lock, because another process may be recording into it.
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) throw_io_error("record.prepare", "lock the spill file", path, errno);
      throw IoError(EBUSY, path, fmt::format("[record.prepare] cannot write the spill file '{}': another recording is writing it", path));
    }
    if (::ftruncate(fd, 0) != 0) throw_io_error("record.prepare", "write the spill file", path, errno);
  } catch (...) {
    ::close(fd);
    throw;
  }
}

LockedFile::~LockedFile() {
  // A forked child may have the descriptor too: closing ours would leave the file locked until the child has ended.
  ::flock(fd, LOCK_UN);
  ::close(fd);
}

SpillFile::SpillFile(const std::string& path, SessionCore& core, StackProvider* provider)
    : core_(core), id_(random_id()), file_(path), writer_(file_.fd, path), ids_(names_, stacks_, provider) {
  trace::Recording identity;
  identity.metadata[kSpillId] = id_;
  writer_.add_summary(identity);
}

trace::TrackId SpillFile::track_of_thread(const ThreadIdentity& thread) {
  const auto [found, is_new] = track_of_number_.try_emplace(thread.number, static_cast<trace::TrackId>(tracks_.size()));
  if (!is_new) return found->second;
  // A source may have seen a call of the thread before the thread's own first segment came.
  const auto seen = threads_of_calls_.extract(thread.tid);
  if (seen.empty()) {
    add_track(record::track_of(thread));
  } else {
    found->second = seen.mapped();
    tracks_[found->second] = record::track_of(thread);
    writer_.add_track(found->second, tracks_[found->second]);
  }
  return found->second;
}

void SpillFile::add_track(trace::Track track) {
  track.first_event = track.event_count = 0;  // not known before the end
  writer_.add_track(static_cast<trace::TrackId>(tracks_.size()), track);
  tracks_.push_back(std::move(track));
}

// A killed session has no summary: the file must contain a clock mapping from the first piece on, and a more precise one as time goes by.
void SpillFile::write_clock() {
  const std::vector<ClockSample> samples = core_.clock_samples();
  if (samples.size() == samples_used_) return;
  writer_.add_clock(straight_line(samples, core_.clock));
  samples_used_ = samples.size();
}

void SpillFile::write_new_ids() {
  const trace::NameId first = writer_.name_count();
  const std::vector<std::string_view> fresh(names_.begin() + first, names_.end());
  if (!fresh.empty()) writer_.add_names(first, fresh);
  writer_.add_stacks(stacks_);
}

void SpillFile::write_piece(trace::TrackId track, const trace::Recording& rows, trace::EventIndex first, trace::EventIndex count,
                            std::uint64_t ordinal) {
  trace::Piece piece = trace::make_piece(rows, track, ordinal, first, first + count);
  piece.unit = trace::TimeUnit::kTicks;
  writer_.add_piece(piece);
  events_written_ += count;
}

std::vector<OpenSlot> SpillFile::write(const ThreadIdentity& thread, const Segment& segment) {
  const trace::TrackId track = track_of_thread(thread);
  trace::Recording rows;
  TickMapping ticks;  // ns = ticks: the reader maps them
  ReadCounts counts;
  read_segment(segment, track, ticks, {}, ids_, rows, counts);
  trace::order_side_rows(rows);
  trace::order_marks(rows);
  std::vector<OpenSlot> open;
  for (trace::EventIndex i = 0; i < rows.events.size(); ++i) {
    if ((rows.events.flags[i] & trace::kUnfinished) == 0) continue;
    rows.events.flags[i] &= static_cast<std::uint8_t>(~trace::kUnfinished);
    rows.events.duration_ns[i] = trace::kStillOpen;
    open.push_back({i, track, segment.first_ordinal + i});
  }
  write_clock();
  write_new_ids();
  if (rows.events.size() > 0) write_piece(track, rows, 0, static_cast<trace::EventIndex>(rows.events.size()), segment.first_ordinal);
  if (rows.memory.size() > 0) writer_.add_memory(rows.memory, trace::TimeUnit::kTicks);
  if (!rows.memory_tags.empty()) writer_.add_tags(rows.memory_tags, trace::TimeUnit::kTicks);
  return open;
}

// Times are written in ticks of the session, as those of host events are: the reader maps both by the same line, so that a call stays
// inside the op that made it.
void SpillFile::write_records(const std::string& source, const DeviceBatch& batch) {
  write_counters(batch);
  if (batch.records.empty()) return;
  trace::Recording rows;
  rows.tracks = tracks_;
  std::vector<trace::TrackId> track_of_event;
  TickMapping ticks;  // ns = ticks
  LaunchMatching& matching = matching_[source];
  add_device_records(batch, ticks, 0, ids_, rows, track_of_event, matching);
  matching.forget_settled();
  trace::order_events(rows, track_of_event);
  trace::order_side_rows(rows);
  write_clock();
  write_new_ids();
  next_device_ordinal_.resize(rows.tracks.size(), 0);
  for (trace::TrackId id = 0; id < rows.tracks.size(); ++id) {
    const trace::Track track = rows.tracks[id];
    if (id >= tracks_.size()) {
      add_track(track);
      if (track.kind == trace::Track::Kind::kThread) threads_of_calls_[track.id] = id;
    }
    for (trace::EventIndex done = 0; done < track.event_count;) {
      const auto count = std::min<trace::EventIndex>(track.event_count - done, 1u << 16);
      write_piece(id, rows, track.first_event + done, count, next_device_ordinal_[id]);
      next_device_ordinal_[id] += count;
      done += count;
    }
  }
}

void SpillFile::write_counters(const DeviceBatch& batch) {
  if (batch.sample_count() == 0) return;
  trace::Recording rows;
  TickMapping ticks;
  add_counters(batch, ticks, 0, rows);
  write_clock();
  for (const trace::CounterTrack& counter : rows.counters) {
    writer_.add_counter(counter, trace::TimeUnit::kTicks);
    samples_written_ += counter.size();
  }
}

trace::Recording SpillFile::finish(const Ingredients& from, trace::Recording summary) {
  write_clock();
  TickMapping mapping = map_session_clock(core_.clock_samples(), core_.clock);
  for (const SourceBatch& each : from.batches) {
    write_records(each.source, each.batch);
    add_source_facts(each.batch, each.source, mapping, matching_[each.source], 0, summary);
  }
  summary.metadata[kSpillEvents] = std::to_string(events_written_);
  writer_.add_steps(summary.steps, trace::TimeUnit::kNanoseconds);
  writer_.add_summary(summary);
  writer_.finish();
  return summary;
}

}  // namespace mindtorch::record

// The file of a spilling session.
#include "mindtorch/record/spill_file.h"

#include <algorithm>
#include <random>

#include "mindtorch/base/error.h"
#include "mindtorch/record/assemble.h"
#include "mindtorch/record/device_mapping.h"
#include "mindtorch/record/spilled.h"
#include "mindtorch/trace/ordering.h"

namespace mindtorch::record {
namespace {

// A server may have a thread for each request. So many that have ended keep their track, for records of their calls that come late.
constexpr std::size_t kRememberedThreads = 4096;

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

SpillFile::SpillFile(const std::string& path, SessionCore& core, StackProvider* provider)
    : core_(core), id_(random_id()), file_(path), writer_(file_, path), ids_(names_, stacks_, provider) {
  begin({});
}

void SpillFile::begin(trace::Recording about) {
  about.metadata[kSpillId] = id_;
  writer_.add_summary(about);
}

trace::TrackId SpillFile::track_of_thread(const ThreadIdentity& thread) {
  const auto [found, is_new] = track_of_number_.try_emplace(thread.number, track_count_);
  if (!is_new) {
    // Threads often get their name after they have begun to record.
    if (tracks_[found->second].name != thread.name) put_track(found->second, record::track_of(thread));
    return found->second;
  }
  // A source may have seen a call of the thread before the thread's own first segment came.
  const auto seen = threads_of_calls_.extract(thread.tid);
  if (!seen.empty()) found->second = seen.mapped();
  put_track(found->second, record::track_of(thread));
  return found->second;
}

void SpillFile::put_track(trace::TrackId id, trace::Track track) {
  track.first_event = track.event_count = 0;  // not known before the end
  writer_.add_track(id, track);
  tracks_[id] = std::move(track);
  track_count_ = std::max(track_count_, id + 1);
}

void SpillFile::thread_ended(std::uint32_t number) {
  ended_threads_.push_back(number);
  if (ended_threads_.size() <= kRememberedThreads) return;
  const auto oldest = track_of_number_.extract(ended_threads_.front());
  ended_threads_.pop_front();
  if (oldest.empty()) return;
  tracks_.erase(oldest.mapped());
  next_device_ordinal_.erase(oldest.mapped());
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

std::size_t SpillFile::write_piece(trace::TrackId track, const trace::Recording& rows, trace::EventIndex first, trace::EventIndex count,
                                   std::uint64_t ordinal) {
  trace::Piece piece = trace::make_piece(rows, track, ordinal, first, first + count);
  piece.unit = trace::TimeUnit::kTicks;
  const std::size_t number = writer_.add_piece(piece);
  events_written_ += count;
  return number;
}

void SpillFile::write(const ThreadIdentity& thread, const Segment& segment, WrittenSegment& written) {
  const trace::TrackId track = track_of_thread(thread);
  const std::uint32_t first_slot = written.slots();
  trace::Recording rows;
  LateRows late;
  TickMapping ticks;  // ns = ticks: the reader maps them
  ReadCounts counts;
  read_segment_from(written.position, segment, track, ticks, {}, ids_, rows, late, counts);
  trace::order_side_rows(rows);
  trace::order_marks(rows);
  std::vector<OpenSlot> open;
  for (trace::EventIndex i = 0; i < rows.events.size(); ++i) {
    if ((rows.events.flags[i] & trace::kUnfinished) == 0) continue;
    rows.events.flags[i] &= static_cast<std::uint8_t>(~trace::kUnfinished);
    rows.events.duration_ns[i] = trace::kStillOpen;
    open.push_back({first_slot + i, track, segment.first_ordinal + first_slot + i});
  }
  write_clock();
  write_new_ids();
  if (const auto events = static_cast<trace::EventIndex>(rows.events.size()); events > 0) {
    written.parts.push_back({write_piece(track, rows, 0, events, segment.first_ordinal + first_slot), first_slot, events});
    written.open.insert(written.open.end(), open.begin(), open.end());
  }
  if (!late.empty()) write_late(late, written);
  if (rows.memory.size() > 0) writer_.add_memory(rows.memory, trace::TimeUnit::kTicks);
  if (!rows.memory_tags.empty()) writer_.add_tags(rows.memory_tags, trace::TimeUnit::kTicks);
  written.loose_entries += rows.memory.size() + rows.memory_tags.size();
}

// A scope may get side data at any time while it is open.
void SpillFile::write_late(LateRows& late, const WrittenSegment& written) {
  using trace::SameEvent;
  trace::order_rows(late.inputs, SameEvent::kLastRow);
  trace::order_rows(late.attributes, SameEvent::kJoinedRows);
  trace::order_rows(late.stacks, SameEvent::kLastRow);
  for (const WrittenSegment::Part& part : written.parts) {
    const trace::EventIndex first = part.first_slot, last = first + part.slots;
    const trace::LatePiece rows{.piece = part.piece,
                                .first_event = first,
                                .events = part.slots,
                                .inputs = {late.inputs, first, last},
                                .attributes = {late.attributes, first, last},
                                .stacks = {late.stacks, first, last}};
    if (!rows.empty()) writer_.add_late_rows(rows);
  }
}

// Times are written in ticks of the session, as those of host events are: the reader maps both by the same line, so that a call stays
// inside the op that made it.
void SpillFile::write_records(const std::string& source, const DeviceBatch& batch) {
  write_counters(batch);
  if (batch.records.empty() && batch.samples.empty()) return;
  trace::Recording rows;
  std::vector<trace::TrackId> ids;  // of the tracks of `rows` in the file
  for (const auto& [id, track] : tracks_) {
    ids.push_back(id);
    rows.tracks.push_back(track);
  }
  std::vector<trace::TrackId> track_of_event;
  TickMapping ticks;  // ns = ticks
  LaunchMatching& matching = matching_[source];
  add_device_records(batch, ticks, 0, ids_, rows, track_of_event, matching);
  matching.forget_settled();
  add_thread_samples(batch, ticks, 0, ids_, rows);
  trace::order_events(rows, track_of_event);
  trace::order_side_rows(rows);
  write_clock();
  write_new_ids();
  for (std::size_t i = 0; i < rows.tracks.size(); ++i) {
    const trace::Track track = rows.tracks[i];
    if (i >= ids.size()) {
      ids.push_back(track_count_);
      put_track(ids[i], track);
      if (track.kind == trace::Track::Kind::kThread) threads_of_calls_[track.id] = ids[i];
    }
    if (track.event_count == 0) continue;
    std::uint64_t& ordinal = next_device_ordinal_[ids[i]];
    for (trace::EventIndex done = 0; done < track.event_count;) {
      const auto count = std::min<trace::EventIndex>(track.event_count - done, 1u << 16);
      write_piece(ids[i], rows, track.first_event + done, count, ordinal);
      ordinal += count;
      done += count;
    }
  }
  write_samples(rows.samples, ids);
}

void SpillFile::write_samples(trace::SampleColumns& samples, const std::vector<trace::TrackId>& ids) {
  for (trace::TrackId& track : samples.track) track = ids[track];
  for (std::size_t first = 0; first < samples.size(); first += trace::kMaxPieceEvents) {
    const std::size_t count = std::min(samples.size() - first, trace::kMaxPieceEvents);
    writer_.add_samples(samples, first, count, trace::TimeUnit::kTicks);
    samples_written_ += count;
  }
}

void SpillFile::write_steps() {
  write_clock();
  std::vector<trace::StepMark> marks;
  for (const TickStep& step : core_.steps(steps_written_)) marks.push_back({static_cast<std::int64_t>(step.ticks), step.step});
  if (marks.empty()) return;
  writer_.add_steps(marks, trace::TimeUnit::kTicks);
  steps_written_ += marks.size();
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
  write_steps();
  writer_.add_summary(summary);
  writer_.finish();
  return summary;
}

}  // namespace mindtorch::record

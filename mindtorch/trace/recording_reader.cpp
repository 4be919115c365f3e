// RecordingReader.
#include "mindtorch/trace/recording_reader.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/ordering.h"
#include "mindtorch/trace/summary_chunk.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::trace {

RecordingReader::RecordingReader(std::string_view bytes, std::string path, std::uint64_t max_memory)
    : path_(std::move(path)), budget_(max_memory), chunks_(bytes, path_, &budget_) {}

LoadResult RecordingReader::read() {
  read_chunks();
  if (clock_) {
    apply_patches();
    map_ticks();
    const std::int64_t last_ns = last_time();
    close_open_events(last_ns);
    if (!ended_) complete_clock(last_ns);
  }
  if (result_.damage) count_damage();
  if (chunks_.minor() == 0) number_steps();
  put_in_order();
  return std::move(result_);
}

void RecordingReader::read_chunks() {
  const auto damage = [&](std::string_view what, std::uint64_t offset) {
    result_.damage = fmt::format("{} at byte {}", what, offset);
    result_.damage_offset = offset;
  };
  while (const std::optional<Chunk> chunk = chunks_.next()) {
    if (ended_) return damage("the file goes on behind its end", chunk->offset);
    try {
      take(*chunk);
    } catch (const Malformed& fault) {
      return damage(fmt::format("a chunk is malformed ({})", fault.what()), chunk->offset);
    }
  }
  if (chunks_.damage()) return damage(*chunks_.damage(), chunks_.offset());
  if (!ended_) damage("the recording was not finished: the file ends", chunks_.offset());
}

void RecordingReader::take(const Chunk& chunk) {
  ByteReader in(chunk.payload, &budget_);
  switch (chunk.type) {
    case kNamesChunk: decode_names(in, recording_); break;
    case kTrackChunk: decode_track(in, recording_); break;
    case kFramesChunk: decode_frames(in, recording_); break;
    case kStacksChunk: decode_stacks(in, recording_); break;
    case kClockChunk: clock_ = decode_clock(in); break;
    case kEventsChunk: pieces_.push_back(codec_.decode(in, {clock_.has_value(), chunks_.newer_minor()}, recording_)); break;
    case kLateChunk:
      codec_.decode_late(in, pieces_, recording_);
      has_late_rows_ = true;
      break;
    case kMemoryChunk: take_timed(in, recording_.memory, ticked_memory_, [&] { codec_.decode_memory(in, recording_); }); break;
    case kSamplesChunk:
      take_timed(in, recording_.samples, ticked_samples_, [&] {
        codec_.decode_samples(in, {clock_.has_value(), chunks_.newer_minor()}, recording_);
      });
      break;
    case kTagsChunk: take_timed(in, recording_.memory_tags, ticked_tags_, [&] { decode_tags(in, recording_); }); break;
    case kStepsChunk: take_timed(in, recording_.steps, ticked_steps_, [&] { decode_steps(in, recording_); }); break;
    case kCountersChunk: take_timed(in, recording_.counters, ticked_counters_, [&] { decode_counter(in, recording_); }); break;
    case kPatchesChunk: std::ranges::copy(decode_patches(in, chunks_.minor()), std::back_inserter(patches_)); break;
    case kSummaryChunk: decode_summary(in, recording_, chunks_.minor()); break;
    case kEndChunk: ended_ = true; break;
    default:
      if (!chunks_.newer_minor()) throw Malformed("it is of unknown type");
      return;
  }
  if (in.left() > 0 && !chunks_.newer_minor()) throw Malformed("it has bytes left over");
}

template <class Rows, class Decode>
void RecordingReader::take_timed(ByteReader& in, const Rows& rows, std::vector<Range>& ticked, Decode&& decode) {
  const TimeUnit unit = decode_unit(in, clock_.has_value());
  const std::size_t first = rows.size();
  decode();
  if (unit == TimeUnit::kTicks) ticked.push_back({first, rows.size()});
}

void RecordingReader::apply_patches() {
  // Only pieces with open events: those of device calls, which are never open, count the events of a thread on their own.
  std::vector<PieceRows> by_ordinal;
  std::ranges::copy_if(pieces_, std::back_inserter(by_ordinal), [&](const PieceRows& piece) {
    const auto first = recording_.events.duration_ns.begin() + static_cast<std::ptrdiff_t>(piece.first_row);
    return std::find(first, first + static_cast<std::ptrdiff_t>(piece.rows), kStillOpen) != first + static_cast<std::ptrdiff_t>(piece.rows);
  });
  const auto key = [](const auto& piece) { return std::pair(piece.track, piece.first_ordinal); };
  std::ranges::sort(by_ordinal, {}, key);
  for (const PatchedEnd& patch : patches_) {
    auto piece = std::ranges::upper_bound(by_ordinal, std::pair(patch.track, patch.ordinal), {}, key);
    if (piece == by_ordinal.begin()) continue;
    --piece;
    const std::uint64_t position = patch.ordinal - piece->first_ordinal;
    if (piece->track != patch.track || position >= piece->rows || piece->unit != TimeUnit::kTicks) continue;
    const std::size_t row = piece->first_row + position;
    EventColumns& events = recording_.events;
    if (events.duration_ns[row] != kStillOpen) continue;
    const auto start = static_cast<std::uint64_t>(events.start_ns[row]);
    events.duration_ns[row] = patch.end_tick > start ? static_cast<std::int64_t>(patch.end_tick - start) : 0;
    events.flags[row] |= patch.flags;
    if (patch.link != 0) events.link[row] = patch.link;
  }
}

void RecordingReader::map_ticks() {
  const TickLine line(*clock_);
  const auto to_ns = [&](std::int64_t& time) { time = line.to_ns(static_cast<std::uint64_t>(time)); };
  EventColumns& events = recording_.events;
  for (const PieceRows& piece : pieces_) {
    if (piece.unit != TimeUnit::kTicks) continue;
    for (std::size_t row = piece.first_row; row < piece.first_row + piece.rows; ++row) {
      std::int64_t end =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(events.start_ns[row]) + static_cast<std::uint64_t>(events.duration_ns[row]));
      to_ns(events.start_ns[row]);
      if (events.duration_ns[row] == kStillOpen) continue;
      to_ns(end);
      events.duration_ns[row] = std::max<std::int64_t>(0, end - events.start_ns[row]);
    }
  }
  // Reports of two threads may be a tick apart and within one nanosecond. Our files have all of them in ticks or none.
  std::size_t ticked_reports = 0;
  for (const auto& [first, last] : ticked_memory_) ticked_reports += last - first;
  if (ticked_reports == recording_.memory.size()) order_memory(recording_.memory);
  for (const auto& [first, last] : ticked_memory_) {
    for (std::size_t i = first; i < last; ++i) to_ns(recording_.memory.time_ns[i]);
  }
  for (const auto& [first, last] : ticked_samples_) {
    for (std::size_t i = first; i < last; ++i) {
      std::int64_t end = recording_.samples.end_ns(i);
      to_ns(recording_.samples.time_ns[i]);
      to_ns(end);
      recording_.samples.duration_ns[i] = std::max<std::int64_t>(0, end - recording_.samples.time_ns[i]);
    }
  }
  for (const auto& [first, last] : ticked_tags_) {
    for (std::size_t i = first; i < last; ++i) to_ns(recording_.memory_tags[i].time_ns);
  }
  for (const auto& [first, last] : ticked_steps_) {
    for (std::size_t i = first; i < last; ++i) to_ns(recording_.steps[i].time_ns);
  }
  for (const auto& [first, last] : ticked_counters_) {
    for (std::size_t i = first; i < last; ++i) std::ranges::for_each(recording_.counters[i].times_ns, to_ns);
  }
}

std::int64_t RecordingReader::last_time() const {
  std::int64_t last = recording_.clock.end_ns;
  const EventColumns& events = recording_.events;
  for (std::size_t i = 0; i < events.size(); ++i)
    last = std::max(last, events.start_ns[i] + std::max<std::int64_t>(0, events.duration_ns[i]));
  for (const std::int64_t time : recording_.memory.time_ns) last = std::max(last, time);
  for (std::size_t i = 0; i < recording_.samples.size(); ++i) last = std::max(last, recording_.samples.end_ns(i));
  for (const MemoryTag& tag : recording_.memory_tags) last = std::max(last, tag.time_ns);
  for (const StepMark& mark : recording_.steps) last = std::max(last, mark.time_ns);
  for (const CounterTrack& counter : recording_.counters)
    for (const std::int64_t time : counter.times_ns) last = std::max(last, time);
  return std::min(last, kFarthestNs);
}

void RecordingReader::close_open_events(std::int64_t last_ns) {
  EventColumns& events = recording_.events;
  std::vector<std::uint64_t> open(recording_.tracks.size());
  for (const PieceRows& piece : pieces_) {
    for (std::size_t row = piece.first_row; row < piece.first_row + piece.rows; ++row) {
      if (events.duration_ns[row] != kStillOpen) continue;
      events.duration_ns[row] = std::max<std::int64_t>(0, last_ns - events.start_ns[row]);
      events.flags[row] |= kUnfinished;
      ++open[piece.track];
    }
  }
  for (std::size_t t = 0; t < open.size(); ++t) {
    if (open[t] == 0) continue;
    const Track& track = recording_.tracks[t];
    recording_.losses.push_back({LossReason::kUnfinished, open[t],
                                 fmt::format("{} {}", track.kind == Track::Kind::kThread ? "thread" : "stream", track.id),
                                 "still open when the recording ended"});
  }
  join_many_losses(recording_.losses);
}

void RecordingReader::complete_clock(std::int64_t last_ns) {
  ClockInfo& clock = recording_.clock;
  clock.base_unix_ns = clock_->base_unix_ns;
  clock.end_ns = last_ns;
  if (clock.domains.empty()) clock.domains.push_back({clock_->name, 1e9 / clock_->ns_per_tick, clock_->error_bound_ns, clock_->samples});
}

// Nothing behind the damage is read, because data that it refers to may be missing. It is used only to count the events that are lost.
void RecordingReader::look_behind_damage(std::map<TrackId, std::uint64_t>& told) {
  const auto look = [&](const Chunk& chunk) {
    ByteReader in(chunk.payload);
    if (chunk.type != kEventsChunk) return;
    const PieceExtent piece = decode_extent(in);
    told[piece.track] = std::max(told[piece.track], piece.events);
  };
  try {
    do {
      while (const std::optional<Chunk> chunk = chunks_.next()) {
        try {
          look(*chunk);
        } catch (const Malformed&) {
          // Then the chunk says nothing about its events.
        }
      }
    } while (chunks_.skip_damaged());
  } catch (const BudgetExceeded&) {
    // What is behind the damage is counted as far as memory goes.
  }
}

void RecordingReader::count_damage() {
  std::map<TrackId, std::uint64_t> told;  // the number of events of each track according to the file
  std::map<TrackId, std::uint64_t> read;
  for (TrackId track = 0; track < recording_.tracks.size(); ++track) told[track] = recording_.tracks[track].event_count;
  for (const PieceRows& piece : pieces_) read[piece.track] += piece.rows;
  look_behind_damage(told);
  std::uint64_t lost = 0;
  for (const auto& [track, events] : told) lost += events - std::min(events, read[track]);
  // If the file does not contain the number, at least the broken or missing chunk is lost.
  recording_.losses.push_back({LossReason::kDamagedFile, std::max<std::uint64_t>(lost, 1), path_, *result_.damage});
}

// In format 1.0 only the name of a step event tells its number.
void RecordingReader::number_steps() {
  EventColumns& events = recording_.events;
  for (EventIndex i = 0; i < events.size(); ++i)
    if (events.kind[i] == EventKind::kStep) events.link[i] = step_link_in_name(recording_.name(i));
}

void RecordingReader::put_in_order() {
  std::vector<TrackId> track_of_event;
  track_of_event.reserve(recording_.events.size());
  for (const PieceRows& piece : pieces_) track_of_event.insert(track_of_event.end(), piece.rows, piece.track);
  order_events(recording_, track_of_event);
  if (has_late_rows_) order_side_rows(recording_);
  join_counters(recording_.counters);
  order_marks(recording_);
}

}  // namespace mindtorch::trace

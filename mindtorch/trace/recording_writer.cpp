// RecordingWriter.
#include "mindtorch/trace/recording_writer.h"

#include <algorithm>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/base/text.h"
#include "mindtorch/trace/summary_chunk.h"

namespace mindtorch::trace {
namespace {

constexpr const char* kWhere = "trace.write";

// Names and stacks are cut into chunks near this size: small enough to lose little, large enough to compress.
constexpr std::size_t kChunkBytes = std::size_t{4} << 20;
constexpr std::size_t kSamplesInChunk = std::size_t{1} << 16;

// The first position after `first` where the sizes of the elements add up to kChunkBytes, `last` if none.
template <class Size>
std::size_t cut_at(std::size_t first, std::size_t last, Size&& size_of) {
  std::size_t bytes = 0;
  while (first < last && bytes < kChunkBytes) bytes += 8 + size_of(first++);
  return first;
}

}  // namespace

RecordingWriter::RecordingWriter(ChunkTarget& target, std::string path, int zstd_level) : chunks_(target, std::move(path), zstd_level) {}
RecordingWriter::RecordingWriter(int fd, std::string path, int zstd_level) : chunks_(fd, std::move(path), zstd_level) {}

template <class Encode>
void RecordingWriter::write(ChunkType type, Encode&& encode) {
  if (finished_) throw_error<InvalidArgument>(kWhere, "the recording is finished, nothing can be added");
  bytes_.clear();
  encode();
  chunks_.write(type, bytes_.bytes());
}

void RecordingWriter::require_clock(TimeUnit unit) const {
  if (unit == TimeUnit::kTicks && !has_clock_) throw_error<InvalidArgument>(kWhere, "ticks mean nothing before add_clock()");
}

void RecordingWriter::add_names(NameId first_id, std::span<const std::string_view> names) {
  if (first_id > names_) throw_error<InvalidArgument>(kWhere, "name {} cannot follow name {}", first_id, names_ - 1);
  const std::size_t last = std::max(names_, first_id + names.size());
  while (names_ < last) {
    const std::size_t next = cut_at(names_, last, [&](std::size_t id) { return names[id - first_id].size(); });
    write(kNamesChunk, [&] { encode_names(names_, names.subspan(names_ - first_id, next - names_), bytes_); });
    names_ = next;
  }
}

void RecordingWriter::add_track(TrackId id, const Track& track) {
  if (id > tracks_) throw_error<InvalidArgument>(kWhere, "track {} cannot follow {} tracks", id, tracks_);
  write(kTrackChunk, [&] { encode_track(id, track, bytes_); });
  tracks_ = std::max<std::size_t>(tracks_, id + std::size_t{1});
}

void RecordingWriter::add_stacks(const Stacks& stacks) {
  if (stacks.frames.size() < frames_ || stacks.size() < stacks_)
    throw_error<InvalidArgument>(kWhere, "stacks were written that are gone now");
  while (frames_ < stacks.frames.size()) {
    const std::size_t next = cut_at(frames_, stacks.frames.size(), [](std::size_t) { return sizeof(Frame); });
    const std::span<const Frame> frames(stacks.frames.data() + frames_, next - frames_);
    if (std::ranges::any_of(frames, [&](const Frame& f) { return f.file >= names_ || f.function >= names_; })) {
      throw_error<InvalidArgument>(kWhere, "a frame has a name that was not added");
    }
    write(kFramesChunk, [&] { encode_frames(frames_, frames, bytes_); });
    frames_ = next;
  }
  while (stacks_ < stacks.size()) {
    const std::size_t next =
        cut_at(stacks_, stacks.size(), [&](std::size_t s) { return stacks.frames_of(static_cast<StackId>(s)).size_bytes(); });
    write(kStacksChunk, [&] { encode_stacks(stacks, stacks_, next, bytes_); });
    stacks_ = next;
  }
}

void RecordingWriter::add_clock(const ClockMapping& mapping) {
  if (!is_valid(mapping))
    throw_error<InvalidArgument>(kWhere, "no clock advances {} ns a tick from {} ns", mapping.ns_per_tick, mapping.ns0);
  write(kClockChunk, [&] { encode_clock(mapping, bytes_); });
  has_clock_ = true;
}

std::size_t RecordingWriter::add_piece(const Piece& piece) {
  require_clock(piece.unit);
  if (piece.track >= tracks_) throw_error<InvalidArgument>(kWhere, "track {} was not added", piece.track);
  write(kEventsChunk, [&] { codec_.encode(piece, {names_, stacks_}, bytes_); });
  return pieces_++;
}

void RecordingWriter::add_late_rows(const LatePiece& late) {
  if (late.piece >= pieces_) throw_error<InvalidArgument>(kWhere, "piece {} was not added", late.piece);
  write(kLateChunk, [&] { codec_.encode_late(late, {names_, stacks_}, bytes_); });
}

void RecordingWriter::add_memory(const MemoryColumns& memory, TimeUnit unit) { add_memory(memory, 0, memory.size(), unit); }

void RecordingWriter::add_memory(const MemoryColumns& memory, std::size_t first, std::size_t count, TimeUnit unit) {
  require_clock(unit);
  if (count > kMaxPieceEvents)
    throw_error<InvalidArgument>(kWhere, "{} memory events are more than the {} a chunk may have", count, kMaxPieceEvents);
  const auto tracks = std::span(memory.track).subspan(first, count);
  if (std::ranges::any_of(tracks, [&](TrackId t) { return t >= tracks_; }))
    throw_error<InvalidArgument>(kWhere, "a memory event lies on no track");
  write(kMemoryChunk, [&] {
    encode_unit(unit, bytes_);
    codec_.encode_memory(memory, first, count, bytes_);
  });
}

void RecordingWriter::add_samples(const SampleColumns& samples, std::size_t first, std::size_t count, TimeUnit unit) {
  require_clock(unit);
  if (count > kMaxPieceEvents)
    throw_error<InvalidArgument>(kWhere, "{} samples are more than the {} a chunk may have", count, kMaxPieceEvents);
  for (std::size_t i = first; i < first + count; ++i) {
    if (samples.track[i] >= tracks_) throw_error<InvalidArgument>(kWhere, "a sample lies on no track");
    if (samples.stack[i] >= stacks_) throw_error<InvalidArgument>(kWhere, "a sample has a stack that was not added");
  }
  write(kSamplesChunk, [&] {
    encode_unit(unit, bytes_);
    codec_.encode_samples(samples, first, count, bytes_);
  });
}

void RecordingWriter::add_tags(std::span<const MemoryTag> tags, TimeUnit unit) {
  require_clock(unit);
  write(kTagsChunk, [&] {
    encode_unit(unit, bytes_);
    encode_tags(tags, bytes_);
  });
}

void RecordingWriter::add_steps(std::span<const StepMark> steps, TimeUnit unit) {
  require_clock(unit);
  write(kStepsChunk, [&] {
    encode_unit(unit, bytes_);
    encode_steps(steps, bytes_);
  });
}

void RecordingWriter::add_counter(const CounterTrack& counter, TimeUnit unit) {
  require_clock(unit);
  if (const std::string broken = check_counters({counter}); !broken.empty()) throw_error<InvalidArgument>(kWhere, "{}", broken);
  std::size_t first = 0;
  do {  // a track without samples is written too
    const std::size_t count = std::min(counter.size() - first, kSamplesInChunk);
    write(kCountersChunk, [&] {
      encode_unit(unit, bytes_);
      encode_counter(counter, first, count, bytes_);
    });
    first += count;
  } while (first < counter.size());
}

void RecordingWriter::add_patches(std::span<const PatchedEnd> patches) {
  write(kPatchesChunk, [&] { encode_patches(patches, bytes_); });
}

void RecordingWriter::add_summary(const Recording& recording) {
  for (const auto& [key, value] : recording.metadata) {
    if (!is_json(value)) throw_error<InvalidArgument>(kWhere, "the metadata '{}' is not JSON", key);
  }
  write(kSummaryChunk, [&] { encode_summary(recording, bytes_); });
}

void RecordingWriter::finish() {
  write(kEndChunk, [] {});
  finished_ = true;
}

}  // namespace mindtorch::trace

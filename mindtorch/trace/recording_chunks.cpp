// Names, tracks, stacks, clocks and marks of a recording file.
#include "mindtorch/trace/recording_chunks.h"

#include <bit>
#include <cmath>
#include <utility>

#include "mindtorch/trace/column_codec.h"

namespace mindtorch::trace {
namespace {

constexpr std::uint64_t kIds = std::uint64_t{1} << 32;

void require_next(ByteReader& in, std::size_t next, const char* what) {
  if (in.number() != next) throw Malformed(fmt::format("{} are not numbered from where the last ones ended", what));
}

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void encode_names(std::size_t first, std::span<const std::string_view> names, ByteWriter& out) {
  out.number(first);
  out.number(names.size());
  for (const std::string_view name : names) out.text(name);
}

void decode_names(ByteReader& in, Recording& into) {
  require_next(in, into.names.size(), "names");
  std::vector<std::string> names;
  for (std::size_t n = in.count(); n > 0; --n) {
    const std::string_view text = in.text();
    in.room_for<std::string>(1);
    in.room_for<char>(text.size());
    names.emplace_back(text);
  }
  append(into.names, std::move(names));
}

void encode_track(TrackId id, const Track& track, ByteWriter& out) {
  out.number(id);
  out.u8(static_cast<std::uint8_t>(track.kind));
  out.u8(static_cast<std::uint8_t>(track.device.type));
  out.u8(track.device.index);
  out.signed_number(track.pid);
  out.signed_number(track.id);
  out.number(track.number);
  out.text(track.name);
  out.number(track.event_count);
}

void decode_track(ByteReader& in, Recording& into) {
  const std::size_t id = in.number_below(into.tracks.size() + 1, "a track");
  Track track;
  track.kind = static_cast<Track::Kind>(in.u8());
  if (track.kind > Track::Kind::kStream) throw Malformed("a track is of unknown kind");
  track.device.type = static_cast<DeviceType>(in.u8());
  track.device.index = in.u8();
  track.pid = in.signed_number();
  track.id = in.signed_number();
  track.number = static_cast<std::uint32_t>(in.number_below(kIds, "the number of a thread"));
  track.name = in.text();
  track.event_count = static_cast<EventIndex>(in.number_below(kIds, "the number of events"));
  in.room_for<Track>(1);
  if (id == into.tracks.size()) into.tracks.emplace_back();
  into.tracks[id] = std::move(track);
}

void encode_frames(std::size_t first, std::span<const Frame> frames, ByteWriter& out) {
  out.number(first);
  out.number(frames.size());
  for (const Frame& frame : frames) {
    out.number(frame.file);
    out.number(frame.function);
    out.signed_number(frame.line);
  }
}

void decode_frames(ByteReader& in, Recording& into) {
  require_next(in, into.stacks.frames.size(), "frames");
  const std::size_t count = in.count();
  in.room_for<Frame>(count);
  std::vector<Frame> frames(count);
  for (Frame& frame : frames) {
    frame.file = static_cast<NameId>(in.number_below(into.names.size(), "the file of a frame"));
    frame.function = static_cast<NameId>(in.number_below(into.names.size(), "the function of a frame"));
    const std::int64_t line = in.signed_number();
    frame.line = static_cast<std::int32_t>(line);
    if (frame.line != line) throw Malformed("a line number is out of range");
  }
  append(into.stacks.frames, std::move(frames));
}

void encode_stacks(const Stacks& stacks, std::size_t first, std::size_t last, ByteWriter& out) {
  out.number(first);
  out.number(last - first);
  for (std::size_t s = first; s < last; ++s) {
    const std::span<const std::uint32_t> frames = stacks.frames_of(static_cast<StackId>(s));
    out.number(frames.size());
    for (const std::uint32_t frame : frames) out.number(frame);
  }
}

void decode_stacks(ByteReader& in, Recording& into) {
  Stacks& stacks = into.stacks;
  require_next(in, stacks.size(), "stacks");
  std::vector<std::uint32_t> offsets, frame_ids;
  for (std::size_t n = in.count(); n > 0; --n) {
    const std::size_t frames = in.count();
    in.room_for<std::uint32_t>(frames + 1);
    for (std::size_t depth = frames; depth > 0; --depth) {
      frame_ids.push_back(static_cast<std::uint32_t>(in.number_below(stacks.frames.size(), "a frame")));
    }
    offsets.push_back(static_cast<std::uint32_t>(stacks.frame_ids.size() + frame_ids.size()));
  }
  if (stacks.frame_ids.size() + frame_ids.size() >= kIds || stacks.size() + offsets.size() >= kIds)
    throw Malformed("there are too many stacks");
  append(stacks.offsets, std::move(offsets));
  append(stacks.frame_ids, std::move(frame_ids));
}

void encode_clock(const ClockMapping& mapping, ByteWriter& out) {
  out.number(mapping.tick0);
  out.signed_number(mapping.ns0);
  out.real(mapping.ns_per_tick);
  out.signed_number(mapping.base_unix_ns);
  out.text(mapping.name);
  out.signed_number(mapping.error_bound_ns);
  out.number(mapping.samples);
}

ClockMapping decode_clock(ByteReader& in) {
  ClockMapping mapping;
  mapping.tick0 = in.number();
  mapping.ns0 = in.signed_number();
  mapping.ns_per_tick = in.real();
  mapping.base_unix_ns = in.signed_number();
  mapping.name = in.text();
  mapping.error_bound_ns = in.signed_number();
  mapping.samples = in.number();
  if (!is_valid(mapping)) throw Malformed("no clock runs like this");
  return mapping;
}

void encode_tags(std::span<const MemoryTag> tags, ByteWriter& out) {
  out.number(tags.size());
  for (const MemoryTag& tag : tags) {
    out.signed_number(tag.time_ns);
    out.number(tag.address);
    out.u8(static_cast<std::uint8_t>(tag.category));
  }
}

void decode_tags(ByteReader& in, Recording& into) {
  const std::size_t count = in.count();
  in.room_for<MemoryTag>(count);
  std::vector<MemoryTag> tags(count);
  for (MemoryTag& tag : tags) {
    tag.time_ns = in.signed_number();
    tag.address = in.number();
    tag.category = static_cast<MemoryCategory>(in.u8());
    if (static_cast<int>(tag.category) >= kMemoryCategories) throw Malformed("a memory tag is of unknown category");
  }
  append(into.memory_tags, std::move(tags));
}

void encode_steps(std::span<const StepMark> steps, ByteWriter& out) {
  out.number(steps.size());
  for (const StepMark& mark : steps) {
    out.signed_number(mark.time_ns);
    out.signed_number(mark.step);
  }
}

void decode_steps(ByteReader& in, Recording& into) {
  const std::size_t count = in.count();
  in.room_for<StepMark>(count);
  std::vector<StepMark> steps(count);
  for (StepMark& mark : steps) {
    mark.time_ns = in.signed_number();
    mark.step = in.signed_number();
  }
  append(into.steps, std::move(steps));
}

void encode_counter(const CounterTrack& counter, std::size_t first, std::size_t count, ByteWriter& out) {
  out.text(counter.name);
  out.text(counter.unit);
  out.u8(static_cast<std::uint8_t>(counter.device.type));
  out.u8(counter.device.index);
  out.number(count);
  ColumnCodec codec;
  codec.encode_deltas(std::span(counter.times_ns).subspan(first, count), out);
  codec.encode_with(count, out, [&](std::size_t i) { return std::bit_cast<std::int64_t>(counter.values[first + i]); });
}

void decode_counter(ByteReader& in, Recording& into) {
  CounterTrack counter;
  counter.name = in.text();
  counter.unit = in.text();
  counter.device.type = static_cast<DeviceType>(in.u8());
  counter.device.index = in.u8();
  const std::size_t count = in.number_below(kMaxPieceEvents + 1, "the number of samples");
  in.room_for<CounterTrack>(1);
  in.room_for<char>(counter.name.size() + counter.unit.size());
  in.room_for<std::pair<std::int64_t, double>>(count);
  counter.times_ns.resize(count);
  counter.values.resize(count);
  ColumnCodec codec;
  codec.decode_deltas(std::span(counter.times_ns), in);
  const std::span<const std::int64_t> bits = codec.decode(count, in);
  for (std::size_t i = 0; i < count; ++i) {
    counter.values[i] = std::bit_cast<double>(bits[i]);
    if (!std::isfinite(counter.values[i])) throw Malformed("a counter has a value that is not a number");
  }
  into.counters.push_back(std::move(counter));
}

void encode_patches(std::span<const PatchedEnd> patches, ByteWriter& out) {
  out.number(patches.size());
  for (const PatchedEnd& patch : patches) {
    out.number(patch.track);
    out.number(patch.ordinal);
    out.number(patch.end_tick);
    out.number(patch.link);
    out.u8(patch.flags);
  }
}

std::vector<PatchedEnd> decode_patches(ByteReader& in, std::uint8_t minor) {
  const std::size_t count = in.count();
  in.room_for<PatchedEnd>(count);
  std::vector<PatchedEnd> patches(count);
  for (PatchedEnd& patch : patches) {
    patch.track = static_cast<TrackId>(in.number_below(kIds, "a track"));
    patch.ordinal = in.number();
    patch.end_tick = in.number();
    if (minor >= 4) patch.link = in.number();
    patch.flags = in.u8();
  }
  return patches;
}

}  // namespace mindtorch::trace

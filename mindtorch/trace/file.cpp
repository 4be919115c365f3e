// Cuts a recording into chunks.
#include "mindtorch/trace/file.h"

#include <algorithm>
#include <span>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "mindtorch/trace/invariants.h"
#include "mindtorch/trace/recording_writer.h"

namespace mindtorch::trace {
namespace {

// Small enough that a cut-off file loses little, large enough to compress well.
constexpr std::size_t kRowsInChunk = std::size_t{1} << 16;
constexpr std::size_t kValuesInChunk = std::size_t{1} << 20;

// Rows [first, last) of what is written in order of time.
struct Slice {
  enum class Of : std::uint8_t { kTrack, kMemory, kSamples };
  std::int64_t start_ns;
  Of of;
  std::size_t first, last;
  TrackId track = 0;
};

// Where a slice that starts at event `first` and holds at most kValuesInChunk values (but at least one event) ends.
template <class T>
std::size_t cut_by_values(const SideTable<T>& table, std::size_t first, std::size_t last) {
  const std::size_t begin = first_row(table, first);
  if (begin == table.events.size()) return last;
  const auto over = std::ranges::upper_bound(table.offsets, table.offsets[begin] + kValuesInChunk);
  if (over == table.offsets.end()) return last;
  const std::size_t event = table.events[static_cast<std::size_t>(over - table.offsets.begin()) - 1];
  return std::clamp(event, first + 1, last);
}

template <class T>
std::size_t cut_by_values(const SharedTable<T>& table, std::size_t first, std::size_t last) {
  std::size_t values = 0;
  for (std::size_t k = first_row(table, first); k < table.events.size() && table.events[k] < last; ++k) {
    values += table.row(k).size();
    if (values > kValuesInChunk) return std::clamp<std::size_t>(table.events[k], first + 1, last);
  }
  return last;
}

// Returns slices of all events and memory events in order of time, so that a truncated file has all tracks up to some moment.
std::vector<Slice> slices_of(const Recording& r) {
  std::vector<Slice> slices;
  for (TrackId id = 0; id < r.tracks.size(); ++id) {
    const Track& track = r.tracks[id];
    const std::size_t end = std::size_t{track.first_event} + track.event_count;
    for (std::size_t first = track.first_event, last; first < end; first = last) {
      last = std::min(first + kRowsInChunk, end);
      last = cut_by_values(r.attributes, first, cut_by_values(r.inputs, first, last));
      slices.push_back({r.events.start_ns[first], Slice::Of::kTrack, first, last, id});
    }
  }
  const auto add_rows = [&](Slice::Of of, const Column<std::int64_t>& times) {
    for (std::size_t first = 0; first < times.size(); first += kRowsInChunk)
      slices.push_back({times[first], of, first, std::min(first + kRowsInChunk, times.size())});
  };
  add_rows(Slice::Of::kMemory, r.memory.time_ns);
  add_rows(Slice::Of::kSamples, r.samples.time_ns);
  std::ranges::stable_sort(slices, {}, &Slice::start_ns);
  return slices;
}

// Calls add() with all of `rows`, kRowsInChunk at a time.
template <class T, class Add>
void in_chunks(const std::vector<T>& rows, Add&& add) {
  for (std::span<const T> rest(rows); !rest.empty(); rest = rest.subspan(std::min(kRowsInChunk, rest.size()))) {
    add(rest.first(std::min(kRowsInChunk, rest.size())));
  }
}

void write_recording(const Recording& r, RecordingWriter& writer) {
  writer.add_summary(r);
  writer.add_names(0, std::vector<std::string_view>(r.names.begin(), r.names.end()));
  for (std::size_t t = 0; t < r.tracks.size(); ++t) writer.add_track(static_cast<TrackId>(t), r.tracks[t]);
  writer.add_stacks(r.stacks);
  in_chunks(r.steps, [&](auto steps) { writer.add_steps(steps, TimeUnit::kNanoseconds); });
  in_chunks(r.memory_tags, [&](auto tags) { writer.add_tags(tags, TimeUnit::kNanoseconds); });
  for (const CounterTrack& counter : r.counters) writer.add_counter(counter, TimeUnit::kNanoseconds);
  for (const Slice& slice : slices_of(r)) {
    const std::size_t count = slice.last - slice.first;
    switch (slice.of) {
      case Slice::Of::kTrack:
        writer.add_piece(make_piece(r, slice.track, slice.first - r.tracks[slice.track].first_event, slice.first, slice.last));
        break;
      case Slice::Of::kMemory: writer.add_memory(r.memory, slice.first, count, TimeUnit::kNanoseconds); break;
      case Slice::Of::kSamples: writer.add_samples(r.samples, slice.first, count, TimeUnit::kNanoseconds); break;
    }
  }
  writer.finish();
}

}  // namespace

void save(const Recording& recording, const std::string& path, int zstd_level) {
  if (const std::string broken = check_invariants(recording); !broken.empty()) throw_error<InvalidArgument>("trace.save", "{}", broken);
  AtomicFile file(path);
  RecordingWriter writer(file.fd(), path, zstd_level);
  write_recording(recording, writer);
  file.commit();
}

}  // namespace mindtorch::trace

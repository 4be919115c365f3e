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

// Events [first, last) of a track, or (no track) memory events.
struct Slice {
  std::int64_t start_ns;
  const Track* track;
  std::size_t first, last;
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
  for (const Track& track : r.tracks) {
    const std::size_t end = std::size_t{track.first_event} + track.event_count;
    for (std::size_t first = track.first_event, last; first < end; first = last) {
      last = std::min(first + kRowsInChunk, end);
      last = cut_by_values(r.attributes, first, cut_by_values(r.inputs, first, last));
      slices.push_back({r.events.start_ns[first], &track, first, last});
    }
  }
  for (std::size_t first = 0; first < r.memory.size(); first += kRowsInChunk) {
    slices.push_back({r.memory.time_ns[first], nullptr, first, std::min(first + kRowsInChunk, r.memory.size())});
  }
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
    if (slice.track != nullptr) {
      const auto track = static_cast<TrackId>(slice.track - r.tracks.data());
      writer.add_piece(make_piece(r, track, slice.first - slice.track->first_event, slice.first, slice.last));
    } else {
      writer.add_memory(r.memory, slice.first, slice.last - slice.first, TimeUnit::kNanoseconds);
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

// append(): appends a later session of the same process to an earlier one.
#include "mindtorch/trace/append.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/interning.h"
#include "mindtorch/trace/ordering.h"

namespace mindtorch::trace {
namespace {

template <class T>
std::span<T> rows_from(Column<T>& column, std::size_t first) {
  return std::span(column).subspan(first);
}

class Appending {
 public:
  Appending(Recording& into, const Recording& next) : into_(into), next_(next), first_event_(static_cast<EventIndex>(into.events.size())) {
    if (__builtin_sub_overflow(next.clock.base_unix_ns, into.clock.base_unix_ns, &shift_ns_)) refuse_times();
    if (into.events.size() + next.events.size() > std::numeric_limits<EventIndex>::max()) {
      throw_error<InvalidArgument>("trace.append", "more than {} events", std::numeric_limits<EventIndex>::max());
    }
  }

  void run() {
    track_of_event_ = track_column(into_);
    map_names();
    map_tracks();
    append_events();
    append_rows(into_.inputs, next_.inputs, [&](std::span<std::int64_t> row) { map_input_names(row, name_ids_); });
    append_rows(into_.attributes, next_.attributes, [&](std::span<Attribute> row) {
      for (Attribute& attribute : row) trace::map_names(attribute, [&](NameId id) { return name_ids_[id]; });
    });
    append_stacks();
    append_marks();
    append_counters();
    append_clock();
    append_summary();
    order_events(into_, track_of_event_);
    order_marks(into_);
  }

 private:
  [[noreturn]] static void refuse_times() { throw_error<InvalidArgument>("trace.append", "the recordings are more than 292 years apart"); }

  std::int64_t shifted(std::int64_t time_ns) const {
    std::int64_t result;
    if (__builtin_add_overflow(time_ns, shift_ns_, &result)) refuse_times();
    return result;
  }

  void map_names() {
    NameInterner interner;
    name_ids_.reserve(next_.names.size());
    for (const std::string& name : next_.names) name_ids_.push_back(interner.intern(into_.names, name));
  }

  void map_tracks() {
    const auto identity = [](const Track& track) { return std::tuple(track.kind, track.device, track.pid, track.id, track.number); };
    std::map<decltype(identity(Track())), TrackId> known;
    for (TrackId t = 0; t < into_.tracks.size(); ++t) known.try_emplace(identity(into_.tracks[t]), t);
    for (const Track& track : next_.tracks) {
      const auto [found, is_new] = known.try_emplace(identity(track), static_cast<TrackId>(into_.tracks.size()));
      track_ids_.push_back(found->second);
      if (is_new) into_.tracks.push_back(track);
      Track& joined = into_.tracks[found->second];
      if (joined.name.empty()) joined.name = track.name;
    }
  }

  void append_events() {
    for (std::size_t t = 0; t < next_.tracks.size(); ++t) {
      track_of_event_.insert(track_of_event_.end(), next_.tracks[t].event_count, track_ids_[t]);
    }
    const EventColumns& from = next_.events;
    EventColumns& to = into_.events;
    to.append(from);
    for (std::int64_t& start : rows_from(to.start_ns, first_event_)) start = shifted(start);
    for (NameId& name : rows_from(to.name, first_event_)) name = name_ids_[name];
  }

  template <class T, class Map>
  void append_rows(SideTable<T>& to, const SideTable<T>& from, Map&& map) {
    for (std::size_t row = 0; row < from.events.size(); ++row) {
      const std::size_t at = to.values.size();
      to.add(first_event_ + from.events[row], from.row(row));
      map(std::span(to.values).subspan(at));
    }
  }

  template <class T, class Map>
  void append_rows(SharedTable<T>& to, const SharedTable<T>& from, Map&& map) {
    const std::size_t first = to.shared_rows(), at = to.values.size();
    for (std::size_t row = 0; row < from.shared_rows(); ++row) to.add_shared_row(from.shared_row(row));
    map(std::span(to.values).subspan(at));
    for (std::size_t k = 0; k < from.events.size(); ++k)
      to.share(first_event_ + from.events[k], static_cast<std::uint32_t>(first + from.shared[k]));
  }

  void append_stacks() {
    StackInterner interner;
    const auto intern_all = [&](const Stacks& from, Stacks& to, auto&& name_id) {
      std::vector<StackId> ids;
      std::vector<Frame> frames;
      for (StackId s = 0; s < from.size(); ++s) {
        frames.clear();
        for (const std::uint32_t id : from.frames_of(s)) {
          const Frame& f = from.frames[id];
          frames.push_back({name_id(f.file), name_id(f.function), f.line});
        }
        ids.push_back(interner.intern(to, frames));
      }
      return ids;
    };
    // Interning the old stacks first gives them their old ids, as each is stored once.
    Stacks all;
    const std::vector<StackId> old_ids = intern_all(into_.stacks, all, [](NameId id) { return id; });
    const std::vector<StackId> new_ids = intern_all(next_.stacks, all, [&](NameId id) { return name_ids_[id]; });
    all.of_event = std::move(into_.stacks.of_event);
    for (StackId& id : all.of_event.values) id = old_ids[id];
    append_rows(all.of_event, next_.stacks.of_event, [&](std::span<StackId> row) { row[0] = new_ids[row[0]]; });
    into_.stacks = std::move(all);
    for (StackId& id : into_.samples.stack) id = old_ids[id];
    append_samples(new_ids);
  }

  void append_samples(std::span<const StackId> stack_ids) {
    SampleColumns& to = into_.samples;
    const std::size_t first_row = to.size();
    to.append(next_.samples);
    for (std::int64_t& time : rows_from(to.time_ns, first_row)) time = shifted(time);
    for (TrackId& track : rows_from(to.track, first_row)) track = track_ids_[track];
    for (StackId& stack : rows_from(to.stack, first_row)) stack = stack_ids[stack];
  }

  void append_marks() {
    const MemoryColumns& from = next_.memory;
    MemoryColumns& to = into_.memory;
    const std::size_t first_row = to.size();
    to.append(from);
    for (std::int64_t& time : rows_from(to.time_ns, first_row)) time = shifted(time);
    for (TrackId& track : rows_from(to.track, first_row)) track = track_ids_[track];
    for (MemoryTag tag : next_.memory_tags) into_.memory_tags.push_back({shifted(tag.time_ns), tag.address, tag.category});
    for (StepMark mark : next_.steps) into_.steps.push_back({shifted(mark.time_ns), mark.step});
    for (const MemoryBaseline& baseline : next_.memory_baselines) {
      if (std::ranges::find(into_.memory_baselines, baseline.device, &MemoryBaseline::device) == into_.memory_baselines.end()) {
        into_.memory_baselines.push_back(baseline);
      }
    }
  }

  void append_counters() {
    for (const CounterTrack& from : next_.counters) {
      CounterTrack& to = find_or_add_counter(into_.counters, from.name, from.unit, from.device);
      for (const std::int64_t time : from.times_ns) to.times_ns.push_back(shifted(time));
      to.values.insert(to.values.end(), from.values.begin(), from.values.end());
    }
  }

  void append_clock() {
    into_.clock.start_ns = std::min(into_.clock.start_ns, shifted(next_.clock.start_ns));
    into_.clock.end_ns = std::max(into_.clock.end_ns, shifted(next_.clock.end_ns));
    for (const ClockDomain& domain : next_.clock.domains) {
      const auto same = std::ranges::find(into_.clock.domains, domain.name, &ClockDomain::name);
      if (same == into_.clock.domains.end()) {
        into_.clock.domains.push_back(domain);
        continue;
      }
      same->ticks_per_second = domain.ticks_per_second;
      same->error_bound_ns = std::max(same->error_bound_ns, domain.error_bound_ns);
      same->samples += domain.samples;
    }
  }

  void append_summary() {
    RecordedOptions& options = into_.options;
    options.shapes |= next_.options.shapes;
    options.stacks |= next_.options.stacks;
    options.memory |= next_.options.memory;
    options.flops |= next_.options.flops;
    options.modules |= next_.options.modules;
    options.sampling_interval_ns = std::max(options.sampling_interval_ns, next_.options.sampling_interval_ns);
    for (const DeviceType activity : next_.options.activities) {
      if (std::ranges::find(options.activities, activity) == options.activities.end()) options.activities.push_back(activity);
    }
    for (const DeviceProperties& device : next_.devices) {
      if (std::ranges::find(into_.devices, device.device, &DeviceProperties::device) == into_.devices.end()) {
        into_.devices.push_back(device);
      }
    }
    for (const auto& [key, value] : next_.metadata) into_.metadata.insert_or_assign(key, value);
    for (const Loss& loss : next_.losses) {
      const auto same = std::ranges::find_if(
          into_.losses, [&](const Loss& l) { return l.reason == loss.reason && l.where == loss.where && l.detail == loss.detail; });
      if (same == into_.losses.end()) {
        into_.losses.push_back(loss);
      } else {
        same->count += loss.count;
      }
    }
  }

  Recording& into_;
  const Recording& next_;
  EventIndex first_event_;  // index of next's first event behind those of into
  std::int64_t shift_ns_ = 0;
  std::vector<NameId> name_ids_;
  std::vector<TrackId> track_ids_;
  std::vector<TrackId> track_of_event_;
};

}  // namespace

void append(Recording& into, const Recording& next) {
  if (into == Recording{}) {
    into = next;
    return;
  }
  Appending(into, next).run();
}

}  // namespace mindtorch::trace

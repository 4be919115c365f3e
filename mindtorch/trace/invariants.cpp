// check_invariants(): every reader of a Recording may rely on what is tested here.
#include "mindtorch/trace/invariants.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "mindtorch/base/text.h"
#include "mindtorch/trace/inputs.h"

namespace mindtorch::trace {
namespace {

// Each check returns the sentence about what it found broken, empty if nothing.

std::string check_lengths(const Recording& r) {
  const auto differ_in_length = [](const auto& columns) {
    bool differ = false;
    columns.for_each([&](const auto& column) { differ |= column.size() != columns.size(); }, columns);
    return differ;
  };
  if (differ_in_length(r.events)) return "the event columns differ in length";
  if (differ_in_length(r.memory)) return "the memory columns differ in length";
  if (differ_in_length(r.samples)) return "the sample columns differ in length";
  if (r.names.empty() || !r.names[0].empty()) return "names[0] is not the empty name";
  return {};
}

std::string check_tracks(const Recording& r) {
  std::size_t next = 0;
  for (std::size_t t = 0; t < r.tracks.size(); ++t) {
    if (r.tracks[t].first_event != next) return fmt::format("track {} does not start where the one before it ends", t);
    next += r.tracks[t].event_count;
  }
  if (next != r.events.size()) return fmt::format("the tracks hold {} events, the columns {}", next, r.events.size());
  return {};
}

std::string check_events(const Recording& r) {
  const EventColumns& e = r.events;
  for (const Track& track : r.tracks) {
    const std::size_t end = std::size_t{track.first_event} + track.event_count;
    for (std::size_t i = track.first_event; i < end; ++i) {
      std::int64_t end_ns;
      if (e.duration_ns[i] < 0 || __builtin_add_overflow(e.start_ns[i], e.duration_ns[i], &end_ns)) {
        return fmt::format("event {} starts at {} and lasts {} ns", i, e.start_ns[i], e.duration_ns[i]);
      }
      if (e.name[i] >= r.names.size()) return fmt::format("event {} has name {} of {}", i, e.name[i], r.names.size());
      if (static_cast<int>(e.kind[i]) >= kEventKinds) return fmt::format("event {} is of unknown kind {}", i, static_cast<int>(e.kind[i]));
      if (i == track.first_event) continue;
      const bool ordered =
          e.start_ns[i - 1] < e.start_ns[i] || (e.start_ns[i - 1] == e.start_ns[i] && e.duration_ns[i - 1] >= e.duration_ns[i]);
      if (!ordered) return fmt::format("event {} is out of order in its track", i);
    }
  }
  return {};
}

// `with_rows`: the events that have a row in a side table.
std::string check_events(const std::vector<EventIndex>& with_rows, std::size_t events, std::string_view what) {
  if (std::ranges::adjacent_find(with_rows, std::ranges::greater_equal()) != with_rows.end()) {
    return fmt::format("the {} are not sorted by event with one row per event", what);
  }
  if (!with_rows.empty() && with_rows.back() >= events) return fmt::format("the {} of event {} belong to no event", what, with_rows.back());
  return {};
}

template <class T>
std::string check_side_table(const SideTable<T>& table, std::size_t events, std::string_view what) {
  if (table.offsets.size() != table.events.size() + 1 || table.offsets.front() != 0 || table.offsets.back() != table.values.size() ||
      !std::ranges::is_sorted(table.offsets)) {
    return fmt::format("the offsets of the {} are not those of their rows", what);
  }
  return check_events(table.events, events, what);
}

std::string check_shared_rows(const SharedTable<Attribute>& table, std::string_view what) {
  if (table.shared.size() != table.events.size() || table.offsets.empty() || table.offsets.front() != 0 ||
      table.offsets.back() != table.values.size() || !std::ranges::is_sorted(table.offsets)) {
    return fmt::format("the offsets of the {} are not those of their rows", what);
  }
  if (std::ranges::any_of(table.shared, [&](std::uint32_t row) { return row >= table.shared_rows(); }))
    return fmt::format("the {} of an event are a row that does not exist", what);
  return {};
}

std::string check_inputs_table(const Recording& r) {
  if (std::string broken = check_side_table(r.inputs, r.events.size(), "inputs"); !broken.empty()) return broken;
  for (std::size_t row = 0; row < r.inputs.events.size(); ++row) {
    const std::span<const std::int64_t> words(r.inputs.values.data() + r.inputs.offsets[row],
                                              r.inputs.values.data() + r.inputs.offsets[row + 1]);
    const std::string_view fault = check_inputs(words, r.names.size());
    if (!fault.empty()) return fmt::format("the inputs of event {} are malformed: {}", r.inputs.events[row], fault);
  }
  return {};
}

std::string check_attributes(const Recording& r) {
  if (std::string broken = check_shared_rows(r.attributes, "attributes"); !broken.empty()) return broken;
  if (std::string broken = check_events(r.attributes.events, r.events.size(), "attributes"); !broken.empty()) return broken;
  for (const Attribute& a : r.attributes.values) {
    if (a.type > Attribute::Type::kBool) return fmt::format("an attribute is of unknown type {}", static_cast<int>(a.type));
    if (a.key >= r.names.size()) return fmt::format("an attribute has key {} of {} names", a.key, r.names.size());
    if (has_text(a) && static_cast<std::uint64_t>(a.bits) >= r.names.size())
      return fmt::format("an attribute has text {} of {}", a.bits, r.names.size());
  }
  return {};
}

std::string check_stacks(const Recording& r) {
  const Stacks& s = r.stacks;
  if (s.offsets.empty() || s.offsets.front() != 0 || s.offsets.back() != s.frame_ids.size() || !std::ranges::is_sorted(s.offsets)) {
    return "the offsets of the stacks are not those of their frames";
  }
  if (std::ranges::any_of(s.frame_ids, [&](std::uint32_t id) { return id >= s.frames.size(); }))
    return "a stack has a frame that does not exist";
  if (std::ranges::any_of(s.frames, [&](const Frame& f) { return f.file >= r.names.size() || f.function >= r.names.size(); })) {
    return "a frame has a name that does not exist";
  }
  if (std::string broken = check_side_table(s.of_event, r.events.size(), "stacks"); !broken.empty()) return broken;
  for (std::size_t row = 0; row < s.of_event.events.size(); ++row) {
    if (s.of_event.offsets[row + 1] != row + 1) return "an event has more or less than one stack";
  }
  if (std::ranges::any_of(s.of_event.values, [&](StackId id) { return id >= s.size(); })) return "an event has a stack that does not exist";
  return {};
}

std::string check_samples(const Recording& r) {
  const SampleColumns& samples = r.samples;
  if (!std::ranges::is_sorted(samples.time_ns)) return "the samples are not sorted by time";
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::int64_t end_ns;
    if (samples.duration_ns[i] < 0 || __builtin_add_overflow(samples.time_ns[i], samples.duration_ns[i], &end_ns))
      return fmt::format("sample {} is of {} and stands for {} ns", i, samples.time_ns[i], samples.duration_ns[i]);
    if (samples.track[i] >= r.tracks.size()) return fmt::format("sample {} lies on track {} of {}", i, samples.track[i], r.tracks.size());
    if (samples.stack[i] >= r.stacks.size()) return fmt::format("sample {} has stack {} of {}", i, samples.stack[i], r.stacks.size());
    if (static_cast<int>(samples.state[i]) >= kThreadStates) return fmt::format("sample {} has an unknown state", i);
  }
  return {};
}

std::string check_marks(const Recording& r) {
  if (!std::ranges::is_sorted(r.memory.time_ns)) return "the memory events are not sorted by time";
  if (std::ranges::any_of(r.memory.track, [&](TrackId t) { return t >= r.tracks.size(); })) return "a memory event lies on no track";
  if (!std::ranges::is_sorted(r.memory_tags, {}, &MemoryTag::time_ns)) return "the memory tags are not sorted by time";
  if (std::ranges::any_of(r.memory_tags, [](const MemoryTag& tag) { return static_cast<int>(tag.category) >= kMemoryCategories; })) {
    return "a memory tag is of unknown category";
  }
  if (!std::ranges::is_sorted(r.steps, {}, &StepMark::time_ns)) return "the step marks are not sorted by time";
  if (std::string broken = check_counters(r.counters); !broken.empty()) return broken;
  for (const auto& [key, value] : r.metadata) {
    if (!is_json(value)) return fmt::format("the metadata '{}' is not JSON", key);
  }
  return {};
}

}  // namespace

std::string check_invariants(const Recording& recording) {
  for (const auto check :
       {check_lengths, check_tracks, check_events, check_inputs_table, check_attributes, check_stacks, check_samples, check_marks}) {
    if (std::string broken = check(recording); !broken.empty()) return broken;
  }
  return {};
}

}  // namespace mindtorch::trace

// RecordingBuilder: events in any order become a Recording.
#include "mindtorch/trace/builder.h"

#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/invariants.h"
#include "mindtorch/trace/ordering.h"

namespace mindtorch::trace {

NameId RecordingBuilder::intern(std::string_view text) { return names_.intern(recording_.names, text); }

TrackId RecordingBuilder::add_thread(std::int64_t tid, std::string name, std::int64_t pid) {
  recording_.tracks.push_back({.kind = Track::Kind::kThread, .pid = pid, .id = tid, .number = ++threads_, .name = std::move(name)});
  return static_cast<TrackId>(recording_.tracks.size() - 1);
}

TrackId RecordingBuilder::add_stream(Device device, std::int64_t stream, std::string name, std::int64_t pid) {
  recording_.tracks.push_back({.kind = Track::Kind::kStream, .device = device, .pid = pid, .id = stream, .name = std::move(name)});
  return static_cast<TrackId>(recording_.tracks.size() - 1);
}

RecordingBuilder::DraftId RecordingBuilder::add_event(const EventDraft& draft) {
  if (draft.track >= recording_.tracks.size()) throw_error<InvalidArgument>("trace.add_event", "there is no track {}", draft.track);
  std::int64_t end;
  if (draft.duration_ns < 0 || __builtin_add_overflow(draft.start_ns, draft.duration_ns, &end)) {
    throw_error<InvalidArgument>("trace.add_event", "'{}' cannot start at {} and last {} ns", draft.name, draft.start_ns,
                                 draft.duration_ns);
  }
  if (track_of_draft_.size() == std::numeric_limits<EventIndex>::max()) throw_error<InvalidArgument>("trace.add_event", "too many events");
  recording_.events.push_back({.start_ns = draft.start_ns,
                               .duration_ns = draft.duration_ns,
                               .name = intern(draft.name),
                               .link = draft.link,
                               .device = draft.device,
                               .kind = draft.kind,
                               .flags = draft.flags});
  track_of_draft_.push_back(draft.track);
  return static_cast<DraftId>(track_of_draft_.size() - 1);
}

void RecordingBuilder::reserve(std::size_t events) {
  recording_.events.reserve(events);
  track_of_draft_.reserve(events);
}

void RecordingBuilder::require(DraftId event, std::string_view where) const {
  if (event >= track_of_draft_.size()) throw_error<InvalidArgument>(where, "there is no event {}", event);
}

void RecordingBuilder::set_inputs(DraftId event, std::span<const Input> inputs) {
  require(event, "trace.set_inputs");
  recording_.inputs.add(event, encode_inputs(inputs));
}

void RecordingBuilder::set_stack(DraftId event, std::span<const Frame> innermost_first) {
  require(event, "trace.set_stack");
  const StackId stack = stacks_.intern(recording_.stacks, innermost_first);
  recording_.stacks.of_event.add(event, {&stack, 1});
}

void RecordingBuilder::add_attribute(DraftId event, std::string_view key, std::int64_t value) {
  add_attribute(event, Attribute{intern(key), Attribute::Type::kInt, value});
}

void RecordingBuilder::add_attribute(DraftId event, std::string_view key, double value) {
  add_attribute(event, Attribute{intern(key), Attribute::Type::kDouble, std::bit_cast<std::int64_t>(value)});
}

void RecordingBuilder::add_attribute(DraftId event, std::string_view key, std::string_view text) {
  add_attribute(event, Attribute{intern(key), Attribute::Type::kText, intern(text)});
}

void RecordingBuilder::add_attribute(DraftId event, const Attribute& attribute) {
  require(event, "trace.add_attribute");
  SharedTable<Attribute>& table = recording_.attributes;
  if (table.events.empty() || table.events.back() != event) {
    table.add(event, {&attribute, 1});
    return;
  }
  // Attributes of one event mostly come one after another: they make one row at once.
  table.values.push_back(attribute);
  table.offsets.back() = table.values.size();
}

void RecordingBuilder::add_memory(std::int64_t time_ns, TrackId track, Device device, std::uint64_t address, std::int64_t bytes,
                                  std::int64_t total_allocated, std::int64_t total_reserved) {
  if (track >= recording_.tracks.size()) throw_error<InvalidArgument>("trace.add_memory", "there is no track {}", track);
  recording_.memory.push_back({.time_ns = time_ns,
                               .track = track,
                               .address = address,
                               .bytes = bytes,
                               .device = device,
                               .total_allocated = total_allocated,
                               .total_reserved = total_reserved});
}

void RecordingBuilder::add_sample(std::int64_t time_ns, std::int64_t duration_ns, TrackId track, std::span<const Frame> innermost_first,
                                  ThreadState state) {
  if (track >= recording_.tracks.size()) throw_error<InvalidArgument>("trace.add_sample", "there is no track {}", track);
  recording_.samples.push_back({.time_ns = time_ns,
                                .duration_ns = duration_ns,
                                .track = track,
                                .stack = stacks_.intern(recording_.stacks, innermost_first),
                                .state = state});
}

void RecordingBuilder::add_step(std::int64_t time_ns, std::int64_t step) { recording_.steps.push_back({time_ns, step}); }

Recording RecordingBuilder::finish(std::vector<EventIndex>* new_index) {
  order_side_rows(recording_);
  std::vector<EventIndex> moved = order_events(recording_, track_of_draft_);
  order_marks(recording_);
  if (moved.empty() && new_index != nullptr) {
    moved.resize(track_of_draft_.size());
    std::iota(moved.begin(), moved.end(), 0);
  }
  RecordingBuilder whole;
  std::swap(*this, whole);
  if (const std::string broken = check_invariants(whole.recording_); !broken.empty())
    throw_error<InvalidArgument>("trace.finish", "{}", broken);
  if (new_index != nullptr) *new_index = std::move(moved);
  return std::move(whole.recording_);
}

}  // namespace mindtorch::trace

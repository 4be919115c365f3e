// Extracts captured calls and the ops around them from a recording, and appends them to a later one.
#include "mindtorch/record/captured_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>

#include "mindtorch/trace/append.h"
#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/open_spans.h"

namespace mindtorch::record {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::Recording;
using trace::Track;

// No thread of Linux has such an id, so that the track of captured ops is not taken for the one of the thread that captured them.
constexpr std::int64_t kFirstTrackId = 1'000'000'000;

bool can_contain_calls(EventKind kind) { return kind <= EventKind::kDriver && kind != EventKind::kStep; }

using Around = trace::OpenSpans<EventIndex>;

// Visits the events of a track, outer ones first, together with the events around each of them.
template <class Visit>
void walk(const Recording& recording, const Track& track, Visit visit) {
  const trace::EventColumns& events = recording.events;
  Around around;
  for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
    around.close_until(events.start_ns[i]);
    if (!can_contain_calls(events.kind[i]) || (events.flags[i] & trace::kAsync) != 0) continue;
    visit(i, std::as_const(around));
    around.open(events.end_ns(i), i);
  }
}

// The part of a recording that consists of some calls and of everything around them.
class Extract {
 public:
  Extract(const Recording& from, std::span<const std::uint64_t> correlations) : from_(from), wanted_(from.events.size()) {
    for (const Track& track : from.tracks) {
      if (track.kind != Track::Kind::kThread) continue;
      walk(from, track, [&](EventIndex event, const Around& around) {
        if (!trace::is_launch_kind(from.events.kind[event]) || !std::ranges::binary_search(correlations, from.events.link[event])) return;
        wanted_[event] = true;
        for (const Around::Span& outer : around.all()) wanted_[outer.value] = true;
      });
    }
  }

  // With the number of the recording the calls get their keys and are named as captured ones. 0: they have been.
  Recording build(std::uint32_t number) {
    number_ = number;
    for (const Track& track : from_.tracks)
      if (track.kind == Track::Kind::kThread) add_track(track);
    return builder_.finish();
  }

 private:
  void add_track(const Track& track) {
    const auto end = wanted_.begin() + track.first_event + track.event_count;
    if (std::find(wanted_.begin() + track.first_event, end, true) == end) return;
    const bool is_new = track.id < kFirstTrackId;
    const trace::TrackId id = builder_.add_thread(is_new ? kFirstTrackId + track.id : track.id,
                                                  is_new ? fmt::format("captured by thread {}", track.id) : track.name, track.pid);
    walk(from_, track, [&](EventIndex event, const Around& around) {
      if (wanted_[event]) add_event(id, event, around);
    });
    close_all_but(0);
  }

  // An event lasts from the tick at which it is added to the tick at which the first event outside of it is added.
  void add_event(trace::TrackId track, EventIndex event, const Around& around) {
    const auto depth = std::ranges::count_if(around.all(), [&](const Around::Span& outer) { return wanted_[outer.value]; });
    close_all_but(static_cast<std::size_t>(depth));
    const bool is_new_call = number_ != 0 && trace::is_launch_kind(from_.events.kind[event]);
    const std::string name = fmt::format("{}{}", from_.name(event), is_new_call ? " (captured)" : "");
    const std::uint64_t link = from_.events.link[event];
    const trace::RecordingBuilder::DraftId draft = builder_.add_event({.name = name,
                                                                       .kind = from_.events.kind[event],
                                                                       .track = track,
                                                                       .start_ns = ++tick_,
                                                                       .link = is_new_call ? captured_call_key(number_, link) : link,
                                                                       .device = from_.events.device[event],
                                                                       .flags = from_.events.flags[event]});
    open_.push_back(draft);
    add_side_data(event, draft);
  }

  void close_all_but(std::size_t depth) {
    for (; open_.size() > depth; open_.pop_back()) {
      trace::EventColumns& events = builder_.recording().events;
      events.duration_ns[open_.back()] = ++tick_ - events.start_ns[open_.back()];
    }
  }

  void add_side_data(EventIndex event, trace::RecordingBuilder::DraftId draft) {
    const auto own_name = [&](trace::NameId name) { return builder_.intern(from_.names[name]); };
    if (const auto row = from_.inputs.find(event); !row.empty()) {
      std::vector<trace::Input> inputs = trace::decode_inputs(row);
      for (trace::Input& input : inputs)
        if (input.kind == trace::Input::Kind::kText) input.text = own_name(input.text);
      builder_.set_inputs(draft, inputs);
    }
    for (trace::Attribute attribute : from_.attributes.find(event)) {
      attribute.key = own_name(attribute.key);
      const bool is_text = attribute.type == trace::Attribute::Type::kText || attribute.type == trace::Attribute::Type::kJson;
      if (is_text) attribute.bits = own_name(static_cast<trace::NameId>(attribute.bits));
      builder_.add_attribute(draft, attribute);
    }
    if (const auto stack = from_.stacks.of_event.find(event); !stack.empty()) {
      std::vector<trace::Frame> frames;
      for (const std::uint32_t id : from_.stacks.frames_of(stack[0])) {
        const trace::Frame& frame = from_.stacks.frames[id];
        frames.push_back({own_name(frame.file), own_name(frame.function), frame.line});
      }
      builder_.set_stack(draft, frames);
    }
  }

  const Recording& from_;
  std::vector<bool> wanted_;
  trace::RecordingBuilder builder_;
  std::vector<trace::RecordingBuilder::DraftId> open_;
  std::int64_t tick_ = 0;
  std::uint32_t number_ = 0;
};

// Lives as long as the process, like the graphs. Any thread.
class CapturedOps {
 public:
  // Remembers the calls with these correlations and everything around them. `number` is the one of the recording.
  void learn(const Recording& recording, std::uint32_t number, std::span<const std::uint64_t> correlations);
  // Appends those of the remembered calls that have these keys, and everything around them.
  void add_to(Recording& recording, std::span<const std::uint64_t> keys) const;

 private:
  // A program that captures without end must not fill the memory. The newest captures are then not remembered.
  static constexpr std::size_t kMostEvents = std::size_t{8} << 20;

  struct Capture {
    std::uint32_t number;
    Recording ops;
  };
  mutable std::mutex mutex_;
  std::vector<Capture> captures_;  // one for each recording in which a graph was captured
  std::size_t events_ = 0;
};

void CapturedOps::learn(const Recording& recording, std::uint32_t number, std::span<const std::uint64_t> correlations) {
  if (correlations.empty()) return;
  std::lock_guard lock(mutex_);
  // A batch is in the recording of each snapshot that is made while the session goes on.
  if (std::ranges::find(captures_, number, &Capture::number) != captures_.end()) return;
  Recording captured = Extract(recording, correlations).build(number);
  if (events_ + captured.events.size() > kMostEvents) return;
  events_ += captured.events.size();
  captures_.push_back({number, std::move(captured)});
}

void CapturedOps::add_to(Recording& recording, std::span<const std::uint64_t> keys) const {
  if (keys.empty()) return;
  std::lock_guard lock(mutex_);
  for (const Capture& capture : captures_) {
    Recording part = Extract(capture.ops, keys).build(0);
    if (part.events.size() == 0) continue;
    part.clock.base_unix_ns = recording.clock.base_unix_ns + recording.clock.start_ns;
    trace::append(recording, part);
  }
}

CapturedOps& captured_ops() {
  static auto& ops = *new CapturedOps();
  return ops;
}

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> values) {
  std::ranges::sort(values);
  return values;
}

}  // namespace

void add_captured_ops(const std::vector<SourceBatch>& batches, Recording& recording) {
  std::vector<std::uint64_t> replayed;
  for (const SourceBatch& each : batches) {
    const std::vector<std::uint64_t>& keys = each.batch.captures.replayed;
    replayed.insert(replayed.end(), keys.begin(), keys.end());
  }
  captured_ops().add_to(recording, sorted(std::move(replayed)));
  for (const SourceBatch& each : batches)
    captured_ops().learn(recording, each.batch.captures.recording, sorted(each.batch.captures.captured));
}

}  // namespace mindtorch::record

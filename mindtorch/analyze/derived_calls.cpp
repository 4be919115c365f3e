// One pass over each track, with a stack of what is open: events, and the functions between them.
#include "mindtorch/analyze/derived_calls.h"

#include <algorithm>
#include <span>

namespace mindtorch::analyze {
namespace {

using trace::EventIndex;
using trace::EventKind;

class TrackPass {
 public:
  TrackPass(const trace::Recording& recording, std::vector<DerivedCall>& out) : recording_(recording), out_(out) {}

  void run(trace::TrackId id) {
    const trace::Track& track = recording_.tracks[id];
    for (EventIndex event = track.first_event; event < track.first_event + track.event_count; ++event) {
      const bool is_async = (recording_.events.flags[event] & trace::kAsync) != 0;
      if (recording_.events.kind[event] == EventKind::kInstant || is_async) continue;
      leave_ended_events(recording_.events.start_ns[event]);
      if (outlives_what_is_around(event)) continue;  // it says nothing about how long a function was open
      follow_stack(id, event);
      open_.push_back({.end_ns = recording_.events.end_ns(event), .reach_ns = recording_.events.end_ns(event)});
    }
    leave(0);
  }

 private:
  struct Open {
    std::uint32_t call = kEvent;  // else the number of a call
    std::uint32_t frame = 0;      // of a call: where it is now
    std::int64_t end_ns = 0;      // of an event
    std::int64_t reach_ns = 0;    // end of the last event in it
  };
  static constexpr std::uint32_t kEvent = ~std::uint32_t{0};

  static bool is_event(const Open& open) { return open.call == kEvent; }

  // Leaves everything from this depth on.
  void leave(std::size_t depth) {
    while (open_.size() > depth) {
      const Open left = open_.back();
      open_.pop_back();
      if (!is_event(left)) out_[left.call].end_ns = left.reach_ns;
      if (!open_.empty()) open_.back().reach_ns = std::max(open_.back().reach_ns, left.reach_ns);
    }
  }

  // An event that ends takes the functions inside it along.
  void leave_ended_events(std::int64_t now) {
    const auto ended = std::ranges::find_if(open_, [&](const Open& open) { return is_event(open) && open.end_ns <= now; });
    leave(static_cast<std::size_t>(ended - open_.begin()));
  }

  bool outlives_what_is_around(EventIndex event) const {
    const auto around = std::find_if(open_.rbegin(), open_.rend(), is_event);
    return around != open_.rend() && around->end_ns < recording_.events.end_ns(event);
  }

  bool same_function(std::uint32_t a, std::uint32_t b) const {
    const trace::Frame &x = recording_.stacks.frames[a], &y = recording_.stacks.frames[b];
    return x.file == y.file && x.function == y.function;
  }

  // Leaves the functions that the event was not called from, and enters those that are new. Functions outside of an open event are still
  // open for certain.
  void follow_stack(trace::TrackId track, EventIndex event) {
    const auto stack = recording_.stacks.of_event.find(event);
    if (stack.empty()) return;
    const auto frames = recording_.stacks.frames_of(stack.front());  // innermost first
    std::size_t depth = 0, known = 0;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (!is_event(open_[i])) continue;
      known += i - depth;
      depth = i + 1;
    }
    for (std::size_t i = frames.size() - std::min(known, frames.size()); i-- > 0; ++depth) {
      const bool is_open = depth < open_.size() && same_function(open_[depth].frame, frames[i]);
      if (!is_open) {
        leave(depth);
        enter(track, frames[i], event);
      } else if (open_[depth].frame != frames[i]) {
        leave(depth + 1);  // the function is in another line: what it calls from there is another call
        open_[depth].frame = frames[i];
      }
    }
    leave(depth);
  }

  void enter(trace::TrackId track, std::uint32_t frame, EventIndex event) {
    const auto call = static_cast<std::uint32_t>(out_.size());
    const std::int64_t now = recording_.events.start_ns[event];
    out_.push_back({.track = track, .frame = frame, .first_event = event, .start_ns = now, .end_ns = now});
    open_.push_back({.call = call, .frame = frame, .reach_ns = now});
  }

  const trace::Recording& recording_;
  std::vector<DerivedCall>& out_;
  std::vector<Open> open_;
};

// The step of an optimizer, which is recorded with its tensors, is not a sign of recorded calls.
bool has_recorded_calls(const trace::Recording& recording) {
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    const bool is_shown = (recording.events.flags[i] & trace::kTraceOnly) == 0;
    if (recording.events.kind[i] == EventKind::kPythonFunction && is_shown) return true;
  }
  return false;
}

}  // namespace

std::vector<DerivedCall> derived_calls(const trace::Recording& recording) {
  std::vector<DerivedCall> derived;
  if (recording.stacks.of_event.empty() || has_recorded_calls(recording)) return derived;
  TrackPass pass(recording, derived);
  for (trace::TrackId track = 0; track < recording.tracks.size(); ++track) pass.run(track);
  return derived;
}

}  // namespace mindtorch::analyze

// Which hand-made event lies inside which: their times are put into a Recording, and its event tree gives the answer.
#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "mindtorch/analyze/event_tree.h"
#include "mindtorch/base/error.h"
#include "mindtorch/trace/builder.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/event_handle.h"
#include "python/src/profiler/hand_made_event.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

using analyze::EventIndex;
using analyze::kNoEvent;

bool is_in_tree(nb::handle event) {
  return !nb::isinstance<EventHandle>(event) && !is_true(event, "is_async") && device_type_of(event) == trace::DeviceType::kCpu;
}

double time_of(nb::handle event, const char* which) { return nb::cast<double>(event.attr("time_range").attr(which)); }

// Numbers for any hashable objects of Python, from 0 in the order in which they are first seen.
class Numbers {
 public:
  std::uint32_t of(const nb::object& key) {
    if (!numbers_.contains(key)) numbers_[key] = nb::len(numbers_);
    return nb::cast<std::uint32_t>(numbers_[key]);
  }

 private:
  nb::dict numbers_;
};

// Calls that are the only ones inside a call of the same name: one call, seen twice.
enum class RepeatedCalls { kKept, kMerged };

class HandMadeTree {
 public:
  HandMadeTree(nb::handle list, RepeatedCalls repeated)
      : recording_(make_recording(list, repeated)), names_(recording_), tree_(recording_, names_) {}

  const analyze::EventTree& get() const { return tree_; }
  nb::handle event(EventIndex i) const { return events_[i]; }

 private:
  trace::Recording make_recording(nb::handle list, RepeatedCalls repeated) {
    std::vector<nb::object> events;
    for (const nb::handle event : nb::iter(list))
      if (is_in_tree(event)) events.push_back(nb::borrow(event));
    // Only the order of times matters. Their ranks keep it exactly, whatever numbers they are.
    std::set<double> times;
    for (const nb::object& event : events) times.insert({time_of(event, "start"), time_of(event, "end")});
    const std::vector<double> sorted(times.begin(), times.end());
    const auto rank = [&](double time) { return std::ranges::lower_bound(sorted, time) - sorted.begin(); };

    trace::RecordingBuilder builder;
    Numbers threads, names;
    trace::TrackId tracks = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const trace::TrackId track = threads.of(nb::make_tuple(events[i].attr("thread"), events[i].attr("node_id")));
      if (track == tracks) tracks = builder.add_thread(track) + 1;
      const std::string name = std::to_string(repeated == RepeatedCalls::kMerged ? names.of(events[i].attr("name")) : i);
      const std::int64_t start = rank(time_of(events[i], "start")), end = rank(time_of(events[i], "end"));
      builder.add_event({.name = name, .track = track, .start_ns = start, .duration_ns = std::max<std::int64_t>(0, end - start)});
    }
    std::vector<EventIndex> new_index;
    trace::Recording recording = builder.finish(&new_index);
    events_.resize(events.size());
    for (std::size_t i = 0; i < events.size(); ++i) events_[new_index[i]] = std::move(events[i]);
    return recording;
  }

  std::vector<nb::object> events_;  // by their index in the recording
  trace::Recording recording_;
  analyze::EventNames names_;
  analyze::EventTree tree_;
};

void nest_events(nb::handle list) {
  const HandMadeTree tree(list, RepeatedCalls::kKept);
  for (EventIndex i = 0; i < tree.get().size(); ++i) {
    if (tree.get().parent(i) == kNoEvent) continue;
    const nb::handle event = tree.event(i), parent = tree.event(tree.get().parent(i));
    if (!event.attr("cpu_parent").is_none())
      throw AssertionFailed(fmt::format("There is already a CPU parent event for {}", str_of(event.attr("key"))));
    parent.attr("append_cpu_child")(event);
    event.attr("set_cpu_parent")(parent);
  }
}

// Kernels and children of a repeated call move up to the call that it repeats.
nb::list without_repeated_calls(nb::handle list) {
  const HandMadeTree tree(list, RepeatedCalls::kMerged);
  std::set<PyObject*> merged;
  for (EventIndex i = 0; i < tree.get().size(); ++i) {
    if (tree.get().role(i) != analyze::EventTree::Role::kMerged) continue;
    merged.insert(tree.event(i).ptr());
    const nb::handle node = tree.event(tree.get().node_of(i));
    nb::list children;
    for (const EventIndex child : tree.get().children(tree.get().node_of(i))) {
      children.append(tree.event(child));
      tree.event(child).attr("cpu_parent") = node;
    }
    node.attr("cpu_children") = children;
    node.attr("kernels") = tree.event(i).attr("kernels");  // those of the innermost call, which comes last
  }
  nb::list kept;
  for (const nb::handle event : nb::iter(list))
    if (!merged.contains(event.ptr())) kept.append(event);
  return kept;
}

}  // namespace

void bind_hand_made_tree(nb::module_& module) {
  module.def(
      "nest_events", &nest_events, nb::arg("events"),
      "Makes each hand-made event the child of the innermost one around it on its thread; two that overlap in part are not related.");
  module.def("without_repeated_calls", &without_repeated_calls, nb::arg("events"),
             "The events without those that are the only child of one of the same name.");
}

}  // namespace mindtorch::python

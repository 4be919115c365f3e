// Events: the tracks merged into torch's order.
#include "mindtorch/analyze/events.h"

#include <queue>

namespace mindtorch::analyze {
namespace {

// A place in torch's order.
struct HeadPlace {
  std::int64_t start;
  std::int64_t end;
  std::uint32_t item;
};

bool comes_first(const HeadPlace& a, const HeadPlace& b) {
  if (a.start != b.start) return a.start < b.start;
  if (a.end != b.end) return a.end > b.end;
  return a.item < b.item;
}

// One source of the merge: the listed events of a track, or the memory reports outside of any event. Each is in order already.
class Run {
 public:
  Run(const Analysis& analysis, EventIndex first, EventIndex end) : Run(analysis, first, end, false) {}
  explicit Run(const Analysis& analysis) : Run(analysis, 0, analysis.memory_use().outside().size(), true) {}

  bool advance(HeadPlace& place) {
    const trace::Recording& r = recording_;
    if (is_memory_) {
      if (next_ == end_) return false;
      const std::uint32_t report = memory_.outside()[next_++];
      place = {r.memory.time_ns[report], r.memory.time_ns[report], static_cast<std::uint32_t>(r.events.size() + report)};
      return true;
    }
    while (next_ < end_ && !tree_.is_listed(static_cast<EventIndex>(next_))) ++next_;
    if (next_ == end_) return false;
    const auto event = static_cast<EventIndex>(next_++);
    place = {r.events.start_ns[event], r.events.end_ns(event), event};
    return true;
  }

 private:
  Run(const Analysis& analysis, std::size_t next, std::size_t end, bool is_memory)
      : recording_(analysis.recording()),
        tree_(analysis.tree()),
        memory_(analysis.memory_use()),
        next_(next),
        end_(end),
        is_memory_(is_memory) {}

  const trace::Recording& recording_;
  const EventTree& tree_;
  const MemoryUse& memory_;
  std::size_t next_;
  std::size_t end_;
  bool is_memory_;
};

}  // namespace

Events::Events(const Analysis& analysis) : analysis_(&analysis) {
  const trace::Recording& recording = analysis.recording();
  std::vector<Run> runs;
  for (const trace::Track& track : recording.tracks) runs.emplace_back(analysis, track.first_event, track.first_event + track.event_count);
  runs.emplace_back(analysis);
  items_.reserve(recording.events.size() + analysis.memory_use().outside().size());

  struct Head {
    HeadPlace place;
    std::size_t run;
  };
  const auto later = [](const Head& a, const Head& b) { return comes_first(b.place, a.place); };
  std::priority_queue<Head, std::vector<Head>, decltype(later)> heads(later);
  for (Head head{{}, 0}; head.run < runs.size(); ++head.run) {
    if (runs[head.run].advance(head.place)) heads.push(head);
  }
  while (!heads.empty()) {
    Head head = heads.top();
    heads.pop();
    // A run often goes on for long: no need to touch the heap until another run comes first.
    bool more = true;
    do {
      items_.push_back(head.place.item);
      more = runs[head.run].advance(head.place);
    } while (more && (heads.empty() || comes_first(head.place, heads.top().place)));
    if (more) heads.push(head);
  }
}

std::string Events::table(const TableOptions& options) const {
  const TableRows rows{size(), [this](std::size_t i) { return (*this)[i].as_row(); }, "events", "FunctionEvent"};
  return analyze::table(rows, table_context(analysis_->recording()), options);
}

}  // namespace mindtorch::analyze

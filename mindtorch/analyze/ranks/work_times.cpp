// Cuts the time of each thread into pieces that belong to one event, the innermost that is open.
#include "mindtorch/analyze/ranks/work_times.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "mindtorch/analyze/intervals.h"
#include "mindtorch/analyze/step_finder.h"
#include "mindtorch/trace/open_spans.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

RankWork::Kind work_kind(EventKind kind) {
  if (kind == EventKind::kScope || kind == EventKind::kModule) return RankWork::Kind::kScope;
  return trace::is_device_kind(kind) ? RankWork::Kind::kKernel : RankWork::Kind::kOp;
}

class Cutting {
 public:
  Cutting(const Analysis& analysis, const Phases& phases, std::span<const FoundCollective> collectives)
      : recording_(analysis.recording()),
        tree_(analysis.tree()),
        names_(analysis.names()),
        launches_(analysis.launches()),
        phases_(phases),
        step_finder_(phases.steps()) {
    Intervals in_flight;
    is_collective_.resize(recording_.events.size());
    for (const FoundCollective& collective : collectives) {
      in_flight.add(collective.start_ns, collective.end_ns);
      is_collective_[collective.event] = true;
      if (collective.call != kNoEvent) is_collective_[collective.call] = true;
    }
    in_flight_ = in_flight.united();
  }

  std::vector<RankWork> finish() {
    for (trace::TrackId t = 0; t < recording_.tracks.size(); ++t) {
      const trace::Track& track = recording_.tracks[t];
      track.kind == trace::Track::Kind::kThread ? cut_thread(track, t == phases_.main_track()) : add_stream(track);
    }
    std::erase_if(rows_, [](const RankWork& row) { return total(row) <= 0; });
    std::ranges::stable_sort(rows_, std::ranges::greater{}, total);
    return std::move(rows_);
  }

 private:
  static float total(const RankWork& row) { return std::accumulate(row.seconds.begin(), row.seconds.end(), 0.F); }

  bool is_cut(EventIndex event) const {
    const bool is_async = (recording_.events.flags[event] & trace::kAsync) != 0;
    return tree_.is_node(event) && !is_async && !is_collective_[event];
  }

  // From here on, `until` is where the last piece ended.
  void cut_thread(const trace::Track& track, bool is_main) {
    is_main_ = is_main;
    open_.clear();
    until_ = is_main && !phases_.steps().empty() ? phases_.steps().front().start_ns : 0;
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      if (!is_cut(i)) continue;
      close_before(recording_.events.start_ns[i]);
      end_piece(recording_.events.start_ns[i]);
      open_.open(recording_.events.end_ns(i), i);
    }
    close_before(INT64_MAX);
    if (is_main && !phases_.steps().empty()) end_piece(phases_.steps().back().start_ns + phases_.steps().back().duration_ns);
  }

  void close_before(std::int64_t time_ns) {
    open_.close_until(time_ns, [this](const auto& span) { end_piece(span.end_ns); });
  }

  void end_piece(std::int64_t end_ns) {
    const std::int64_t start_ns = until_;
    if (end_ns <= start_ns) return;
    until_ = end_ns;
    const bool is_python = open_.empty() || recording_.events.kind[open_.innermost()] == EventKind::kStep;
    if (is_python && is_main_) add_python(start_ns, end_ns);
    if (is_python) return;
    const EventIndex event = open_.innermost();
    const RankWork::Kind kind = work_kind(recording_.events.kind[event]);
    std::int64_t time = end_ns - start_ns;
    if (kind == RankWork::Kind::kScope) time -= in_flight_.covered_ns(start_ns, end_ns);
    add(start_ns, row_of(event), time);
  }

  // Time outside of events can span steps.
  void add_python(std::int64_t start_ns, std::int64_t end_ns) {
    const auto& steps = phases_.steps();
    auto step = std::ranges::lower_bound(steps, start_ns, {}, [](const StepPhases& s) { return s.start_ns + s.duration_ns; });
    for (; step != steps.end() && step->start_ns < end_ns; ++step) {
      const std::int64_t from = std::max(start_ns, step->start_ns), to = std::min(end_ns, step->start_ns + step->duration_ns);
      if (to > from) add(from, python_row(), to - from - in_flight_.covered_ns(from, to));
    }
  }

  // Device work counts in the step that launched it.
  void add_stream(const trace::Track& track) {
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      if (!is_device_work(recording_.events.kind[i]) || is_collective_[i]) continue;
      const EventIndex launch = launches_.launch_of(i);
      const std::int64_t time = launch == kNoEvent ? recording_.events.start_ns[i] : recording_.events.start_ns[launch];
      add(time, row_of(i), recording_.events.duration_ns[i]);
    }
  }

  void add(std::int64_t time_ns, std::size_t row, std::int64_t ns) {
    const std::int64_t step = step_finder_.at(time_ns);
    if (step >= 0) rows_[row].seconds[static_cast<std::size_t>(step)] += static_cast<float>(static_cast<double>(ns) * 1e-9);
  }

  std::size_t row_of(EventIndex event) {
    const RankWork::Kind kind = work_kind(recording_.events.kind[event]);
    const EventNames::Key key = names_.key(recording_.events.name[event]);
    return row(key, kind, [&] { return names_.text(key); });
  }
  std::size_t python_row() {
    return row(0, RankWork::Kind::kPython, [] { return kPythonWork; });
  }

  template <class Name>
  std::size_t row(std::size_t id, RankWork::Kind kind, Name name) {
    std::vector<std::size_t>& ids = row_ids_[static_cast<std::size_t>(kind)];
    if (id >= ids.size()) ids.resize(id + 1);
    if (ids[id] == 0) {
      rows_.push_back({std::string(name()), kind, std::vector<float>(phases_.steps().size())});
      ids[id] = rows_.size();
    }
    return ids[id] - 1;
  }

  // Each part of an analysis is looked up once: asking for it in a loop costs as much as the loop.
  const trace::Recording& recording_;
  const EventTree& tree_;
  const EventNames& names_;
  const LaunchLinks& launches_;
  const Phases& phases_;
  StepFinder<StepPhases> step_finder_;
  Intervals in_flight_;
  std::vector<bool> is_collective_;
  std::vector<RankWork> rows_;
  std::array<std::vector<std::size_t>, 4> row_ids_;  // by kind and name: the place of its row plus one
  trace::OpenSpans<EventIndex> open_;
  std::int64_t until_ = 0;
  bool is_main_ = false;
};

}  // namespace

std::vector<RankWork> work_times(const Analysis& analysis, const Phases& phases, std::span<const FoundCollective> collectives) {
  return Cutting(analysis, phases, collectives).finish();
}

}  // namespace mindtorch::analyze

// The checks of mtprof validate.
#include "mtprof/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "mindtorch/export/layout.h"
#include "mindtorch/trace/invariants.h"
#include "mindtorch/trace/launches.h"

namespace mindtorch::mtprof {
namespace {

using trace::EventIndex;
using trace::Recording;
using trace::Track;

class Finder {
 public:
  Finder(std::string_view name, std::string_view rule) : check_{name, rule} {}
  // `describe` is called for the first finding only.
  template <class Describe>
  void add(Describe describe, std::uint64_t count = 1) {
    if (count > 0 && check_.findings == 0) check_.first = describe();
    check_.findings += count;
  }
  Check take() { return std::move(check_); }

 private:
  Check check_;
};

std::string where(const Recording& recording, EventIndex i) {
  const Track& track = recording.tracks[recording.track_of(i)];
  return fmt::format("'{}' at {} ns on {} {}", recording.name(i).substr(0, 80), recording.events.start_ns[i],
                     track.kind == Track::Kind::kThread ? "thread" : "stream", track.id);
}

Check check_file(const Loaded& loaded) {
  Finder finder("file", "the file is whole and keeps its own rules");
  if (loaded.damage) finder.add([&] { return *loaded.damage; });
  if (const std::string broken = check_invariants(loaded.recording); !broken.empty()) finder.add([&] { return broken; });
  return finder.take();
}

// Kernels of one stream may overlap on some devices; calls of one thread may not.
Check check_nesting(const Recording& recording) {
  Finder finder("nesting", "events of a thread nest");
  for (const Track& track : recording.tracks) {
    if (track.kind != Track::Kind::kThread) continue;
    for (const exporter::LaneOf& spilled : exporter::find_overlaps(recording, track)) {
      finder.add([&] { return where(recording, spilled.event) + " overlaps an event it does not lie in"; });
    }
  }
  return finder.take();
}

Check check_causality(const analyze::Analysis& analysis) {
  Finder finder("causality", "nothing runs on a device before it is launched");
  const Recording& recording = analysis.recording();
  const auto& domains = recording.clock.domains;
  const std::int64_t tolerance =
      std::accumulate(domains.begin(), domains.end(), std::int64_t{0},
                      [](std::int64_t sum, const trace::ClockDomain& clock) { return sum + clock.error_bound_ns; });
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    if (!trace::is_device_kind(recording.events.kind[i])) continue;
    const EventIndex launch = analysis.launches().launch_of(i);
    if (launch == analyze::kNoEvent) continue;
    const std::int64_t early = recording.events.start_ns[launch] - recording.events.start_ns[i];
    if (early > tolerance) finder.add([&] { return fmt::format("{} starts {} ns before its launch", where(recording, i), early); });
  }
  return finder.take();
}

Check check_launches(const analyze::Analysis& analysis) {
  Finder finder("launches", "work on a device has a launch");
  const Recording& recording = analysis.recording();
  const bool has_launches = std::ranges::any_of(recording.events.kind, trace::is_launch_kind);
  for (EventIndex i = 0; i < recording.events.size() && has_launches; ++i) {
    if (!trace::is_device_work(recording.events.kind[i]) || analysis.launches().launch_of(i) != analyze::kNoEvent) continue;
    finder.add([&] { return fmt::format("{} has correlation {}, which no call has", where(recording, i), recording.events.link[i]); });
  }
  return finder.take();
}

Check check_ids(const Recording& recording) {
  Finder finder("ids", "each launch has a correlation of its own");
  std::vector<std::pair<std::uint64_t, EventIndex>> launches;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    const bool is_launch = recording.events.kind[i] == trace::EventKind::kRuntime && recording.events.link[i] != 0;
    if (is_launch) launches.emplace_back(recording.events.link[i], i);
  }
  std::ranges::sort(launches);
  for (std::size_t k = 1; k < launches.size(); ++k) {
    if (launches[k].first != launches[k - 1].first) continue;
    finder.add(
        [&] { return fmt::format("{} has correlation {} of another call", where(recording, launches[k].second), launches[k].first); });
  }
  return finder.take();
}

Check check_window(const Recording& recording) {
  Finder finder("window", "events lie in the time that was recorded");
  const trace::ClockInfo& clock = recording.clock;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    const bool inside = recording.events.start_ns[i] >= clock.start_ns && recording.events.end_ns(i) <= clock.end_ns;
    if (!inside) finder.add([&] { return fmt::format("{} lies outside of {}..{} ns", where(recording, i), clock.start_ns, clock.end_ns); });
  }
  return finder.take();
}

Check check_flows(const ingest::FlowEnds& flows) {
  Finder finder("flows", "arrows have both ends");
  const auto describe = [&] {
    return fmt::format("{} of {} starts have no end, {} of {} ends have no start", flows.starts_without_end, flows.starts,
                       flows.ends_without_start, flows.ends);
  };
  finder.add(describe, flows.starts_without_end + flows.ends_without_start);
  return finder.take();
}

Check check_steps(const Recording& recording) {
  Finder finder("steps", "step numbers increase");
  for (std::size_t k = 1; k < recording.steps.size(); ++k) {
    const trace::StepMark &before = recording.steps[k - 1], &mark = recording.steps[k];
    if (mark.step <= before.step)
      finder.add([&] { return fmt::format("step {} at {} ns follows step {}", mark.step, mark.time_ns, before.step); });
  }
  return finder.take();
}

}  // namespace

std::vector<Check> run_checks(const Loaded& loaded) {
  std::vector<Check> checks{check_file(loaded)};
  const Recording& recording = loaded.recording;
  const analyze::Analysis analysis(recording);
  checks.push_back(check_nesting(recording));
  checks.push_back(check_causality(analysis));
  checks.push_back(check_launches(analysis));
  checks.push_back(check_ids(recording));
  checks.push_back(check_window(recording));
  checks.push_back(check_flows(loaded.flows));
  checks.push_back(check_steps(recording));
  return checks;
}

}  // namespace mindtorch::mtprof

// Ledger: the segments of the main thread, with the work of the devices over them, added up by cell.
#include "mindtorch/analyze/report/ledger.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "mindtorch/analyze/processors.h"

namespace mindtorch::analyze {
namespace {

// What the interpreter needs to get from one op to the next; longer stretches do something of their own.
constexpr std::int64_t kLongestGlueNs = 200'000;

bool may_be_glue(Cause cause) { return cause == Cause::kPython || cause == Cause::kUnknown; }

}  // namespace

std::vector<bool> glue_of(std::span<const Segment> segments) {
  std::vector<bool> glue(segments.size(), false);
  for (std::size_t first = 0, last; first < segments.size(); first = last) {
    last = first + 1;
    if (!may_be_glue(segments[first].cause)) continue;
    while (last < segments.size() && may_be_glue(segments[last].cause)) ++last;
    if (segments[last - 1].end_ns - segments[first].start_ns > kLongestGlueNs) continue;
    for (std::size_t k = first; k < last; ++k) glue[k] = true;
  }
  return glue;
}

Ledger::Ledger(const Analysis& analysis, const Phases& phases) {
  find_stretches(phases);
  fill(analysis, phases);
  for (const Cell& cell : cells_) total_ns_ += cell.ns;
}

void Ledger::find_stretches(const Phases& phases) {
  const std::vector<StepPhases>& steps = phases.steps();
  const std::size_t first = steps.size() > 3 ? 1 : 0;
  steps_ = std::max<std::size_t>(1, steps.size() - first);
  for (std::size_t k = first; k < steps.size(); ++k) {
    const StepPhases& step = steps[k];
    stretches_.push_back({step.start_ns, step.end_ns(), false, step.kind == 0});
    const bool goes_on = phases.has_steps() && k + 1 < steps.size() && steps[k + 1].number == step.number + 1;
    if (goes_on && steps[k + 1].start_ns > step.end_ns()) stretches_.push_back({step.end_ns(), steps[k + 1].start_ns, true, true});
  }
}

bool Ledger::is_judged(std::int64_t time_ns) const {
  const auto after = std::ranges::upper_bound(stretches_, time_ns, {}, &Stretch::start_ns);
  return after != stretches_.begin() && time_ns < (after - 1)->end_ns;
}

void Ledger::fill(const Analysis& analysis, const Phases& phases) {
  const trace::Recording& recording = analysis.recording();
  // By cause, kind of moment, and then place and name.
  std::array<std::unordered_map<std::uint64_t, std::size_t>, kCauses * kDevicePhases * 8> ids;
  const bool are_taken = processors_of(recording).are_taken_by_others();
  const auto add = [&](Cell cell, std::int64_t ns, bool is_seen) {
    if (are_taken && !cell.is_on_device() && cell.cause == Cause::kNotRunning) {
      left_out_ns_ += ns;
      return;
    }
    const std::size_t moment = (static_cast<std::size_t>(cell.cause) * kDevicePhases + static_cast<std::size_t>(cell.device)) * 8 +
                               (cell.is_glue ? 4 : 0) + (cell.is_between_steps ? 2 : 0) + (cell.is_usual ? 1 : 0);
    const auto [at, is_new] = ids[moment].try_emplace(std::uint64_t{cell.place} << 32 | cell.name, cells_.size());
    if (is_new) cells_.push_back(cell);
    cells_[at->second].ns += ns;
    cells_[at->second].seen_ns += is_seen ? ns : 0;
  };
  const auto name_of = [&](EventIndex event) {
    const bool is_named = event != kNoEvent && recording.events.kind[event] != trace::EventKind::kPythonFunction;
    return is_named ? analysis.names().key(recording.events.name[event]) : EventNames::kHidden;
  };
  // Work on a device is charged to the line that launched it.
  const auto launch_place = [&](EventIndex event) {
    EventIndex call = analysis.launches().launch_of(event);
    if (call == kNoEvent) call = analysis.launches().host_of(event);
    return call == kNoEvent ? kNoPlace : phases.attribution().place_at(recording.track_of(call), recording.events.start_ns[call]);
  };
  if (phases.judged_tracks().size() > 1) {
    // Threads of a pool: their time together, as far as they have something to do.
    for (const trace::TrackId track : phases.judged_tracks()) {
      const std::span<const Segment> segments = phases.attribution().of(track);
      const std::vector<bool> glue = glue_of(segments);
      for_judged(segments, [&](const Segment& segment, std::int64_t time) {
        if (is_without_work(segment.cause)) return;
        add({.cause = segment.cause,
             .place = segment.place,
             .name = name_of(segment.event),
             .is_glue = glue[static_cast<std::size_t>(&segment - segments.data())]},
            time, segment.is_seen);
      });
    }
    return;
  }
  const std::span<const Segment> host =
      recording.tracks.empty() ? std::span<const Segment>() : phases.attribution().of(phases.main_track());
  const std::vector<bool> glue = glue_of(host);
  const std::vector<DeviceSpan>& device = phases.device();
  std::size_t segment = 0, span = 0;
  for (const Stretch& stretch : stretches_) {
    while (segment < host.size() && host[segment].end_ns <= stretch.start_ns) ++segment;
    while (span < device.size() && device[span].end_ns <= stretch.start_ns) ++span;
    std::size_t at = segment, on_device = span;
    for (std::int64_t now = stretch.start_ns; now < stretch.end_ns;) {
      while (at < host.size() && host[at].end_ns <= now) ++at;
      while (on_device < device.size() && device[on_device].end_ns <= now) ++on_device;
      Cell cell{.is_between_steps = stretch.is_between, .is_usual = stretch.is_usual};
      std::int64_t end = stretch.end_ns;
      bool is_seen = false;
      if (at < host.size()) {
        const bool has_begun = host[at].start_ns <= now;
        end = std::min(end, has_begun ? host[at].end_ns : host[at].start_ns);
        if (has_begun) {
          cell.cause = host[at].cause;
          cell.place = host[at].place;
          cell.name = name_of(host[at].event);
          cell.is_glue = glue[at];
          is_seen = host[at].is_seen;
        }
      }
      if (on_device < device.size()) {
        const bool has_begun = device[on_device].start_ns <= now;
        end = std::min(end, has_begun ? device[on_device].end_ns : device[on_device].start_ns);
        if (has_begun) {
          cell.device = device[on_device].phase;
          cell.name = name_of(device[on_device].event);
          cell.place = launch_place(device[on_device].event);
          is_seen = false;
        }
      }
      add(cell, end - now, is_seen);
      now = end;
    }
  }
}

Claim Ledger::free(const std::function<bool(const Cell&)>& is_meant, std::int64_t most) const {
  Claim claim;
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    const std::int64_t ns = cells_[k].free_ns();
    if (ns <= 0 || !is_meant(cells_[k])) continue;
    claim.parts.push_back({k, ns});
    claim.ns += ns;
  }
  if (claim.ns <= most) return claim;
  // Rounding is carried on, so that the parts add up to `most`.
  const double part = static_cast<double>(most) / static_cast<double>(claim.ns);
  std::int64_t before = 0, taken = 0;
  for (Claim::Part& of_cell : claim.parts) {
    before += of_cell.ns;
    const auto until = before == claim.ns ? most : static_cast<std::int64_t>(static_cast<double>(before) * part);
    of_cell.ns = std::min(of_cell.ns, until - taken);
    taken += of_cell.ns;
  }
  claim.ns = taken;
  return claim;
}

void Ledger::take(const Claim& claim) {
  for (const Claim::Part& part : claim.parts) cells_[part.cell].claimed_ns += part.ns;
}

}  // namespace mindtorch::analyze

// Adds up the segments of each thread inside of the steps that are judged.
#include "mindtorch/analyze/report/cause_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "mindtorch/analyze/report/ledger.h"

namespace mindtorch::analyze {
namespace {

struct RowKey {
  std::string_view cause;
  std::string label, line;
  bool is_idle = false;
  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};
using RowTimes = std::map<RowKey, std::int64_t>;

class LaneMaker {
 public:
  LaneMaker(const Analysis& analysis, const Phases& phases, const Ledger& ledger, std::size_t most_rows)
      : analysis_(analysis), phases_(phases), ledger_(ledger), most_rows_(most_rows) {}

  std::vector<CauseLane> finish() const {
    const std::vector<trace::Track>& tracks = analysis_.recording().tracks;
    if (tracks.empty()) return {};
    std::vector<CauseLane> lanes;
    const trace::Track& main = tracks[phases_.main_track()];
    const std::vector<trace::TrackId>& judged = phases_.judged_tracks();
    if (judged.size() > 1) {
      // Threads of a pool live for a request each, or wait for one: their work is judged, and shown as one lane.
      RowTimes times;
      for (const trace::TrackId track : judged) add_thread(track, times, true);
      lanes.push_back(lane(fmt::format("{} threads {}, while they have work", judged.size(), pool_name(main.name)), times, 1));
      lanes.back().is_main = true;
    } else if (main.kind == trace::Track::Kind::kThread) {
      RowTimes times;
      add_thread(phases_.main_track(), times);
      lanes.push_back(lane(thread_name(main), times, 1));
      lanes.back().is_main = true;
    }
    if (phases_.has_device_work()) lanes.push_back(device_lane());
    struct Pool {
      RowTimes times;
      std::size_t threads = 0;
      std::string name;
    };
    std::map<std::pair<std::int64_t, std::string>, Pool> pools;  // by process and name without numbers
    for (trace::TrackId t = 0; t < tracks.size(); ++t) {
      if (tracks[t].kind != trace::Track::Kind::kThread || t == phases_.main_track() || std::ranges::find(judged, t) != judged.end())
        continue;
      RowTimes times;
      if (!add_thread(t, times)) continue;
      const std::int64_t process = tracks[t].pid == main.pid ? 0 : 1;  // workers of a loader are one lane
      Pool& pool = pools[{process, pool_name(tracks[t].name)}];
      if (pool.threads++ == 0) pool.name = thread_name(tracks[t]);
      for (const auto& [key, time] : times) pool.times[key] += time;
    }
    for (const auto& [key, pool] : pools) {
      const std::string name = pool.threads == 1 ? pool.name
                               : key.first == 1  ? fmt::format("{} threads of other processes", pool.threads)
                                                 : fmt::format("{} threads {}", pool.threads, key.second);
      lanes.push_back(lane(name, pool.times, static_cast<std::int64_t>(pool.threads)));
    }
    return lanes;
  }

 private:
  static std::string thread_name(const trace::Track& track) {
    return track.name.empty() ? fmt::format("thread {}", track.id) : fmt::format("{} {}", track.name, track.id);
  }

  // False if the thread did nothing that is known.
  bool add_thread(trace::TrackId track, RowTimes& times, bool only_work = false) const {
    const trace::Recording& recording = analysis_.recording();
    // By cause, then by place and name.
    std::array<std::unordered_map<std::uint64_t, std::int64_t>, kCauses> sums;
    ledger_.for_judged(phases_.attribution().of(track), [&](const Segment& segment, std::int64_t time) {
      if (only_work && is_without_work(segment.cause)) return;
      const bool is_named = segment.event != kNoEvent && recording.events.kind[segment.event] != trace::EventKind::kPythonFunction;
      const EventNames::Key name = is_named ? analysis_.names().key(recording.events.name[segment.event]) : EventNames::kHidden;
      sums[static_cast<std::size_t>(segment.cause)][std::uint64_t{segment.place} << 32 | name] += time;
    });
    bool is_known = false;
    for (std::size_t cause = 0; cause < kCauses; ++cause) {
      for (const auto& [id, time] : sums[cause]) {
        is_known |= static_cast<Cause>(cause) != Cause::kUnknown;
        times[row_key(static_cast<Cause>(cause), static_cast<PlaceId>(id >> 32), static_cast<EventNames::Key>(id))] += time;
      }
    }
    return is_known;
  }

  RowKey row_key(Cause cause, PlaceId at, EventNames::Key name) const {
    const Place& place = phases_.attribution().place(at);
    RowKey key{.cause = cause_name(cause), .line = place.line};
    if (name != EventNames::kHidden) {
      key.label = analysis_.names().text(name);
    } else {
      key.label = cause == Cause::kPython || place.inner.empty() ? place.function : place.inner;
    }
    return key;
  }

  CauseLane device_lane() const {
    RowTimes times;
    for (const Cell& cell : ledger_.cells()) {
      RowKey key = row_key(cell.cause, cell.place, cell.name);
      if (cell.is_on_device()) key.cause = device_phase_name(cell.device);
      key.is_idle = !cell.is_on_device();
      times[key] += cell.ns;
    }
    CauseLane made = lane("device", times, 1);
    made.is_device = true;
    return made;
  }

  CauseLane lane(std::string name, const RowTimes& times, std::int64_t threads) const {
    CauseLane made{.name = std::move(name)};
    std::int64_t whole = 0;
    std::vector<std::pair<std::int64_t, RowKey>> sorted;
    for (const auto& [key, time] : times) {
      whole += time;
      sorted.emplace_back(time, key);
    }
    std::ranges::stable_sort(sorted, std::ranges::greater{}, [](const auto& row) { return row.first; });
    std::map<std::pair<std::string_view, bool>, std::int64_t> rest;
    const auto add = [&](const RowKey& key, std::int64_t time) {
      made.rows.push_back({.cause = key.cause,
                           .label = key.label,
                           .line = key.line,
                           .ns_per_step = ledger_.per_step(time) / threads,
                           .share = whole > 0 ? static_cast<double>(time) / static_cast<double>(whole) : 0,
                           .is_idle = key.is_idle});
    };
    for (std::size_t k = 0; k < sorted.size(); ++k) {
      if (k < most_rows_) {
        add(sorted[k].second, sorted[k].first);
      } else {
        rest[{sorted[k].second.cause, sorted[k].second.is_idle}] += sorted[k].first;
      }
    }
    for (const auto& [cause, time] : rest) add({.cause = cause.first, .is_idle = cause.second}, time);
    std::ranges::stable_sort(made.rows, std::ranges::greater{}, &CauseRow::ns_per_step);
    made.ns_per_step = ledger_.per_step(whole) / threads;
    return made;
  }

  const Analysis& analysis_;
  const Phases& phases_;
  const Ledger& ledger_;
  const std::size_t most_rows_;
};

}  // namespace

std::vector<CauseLane> cause_lanes(const Analysis& analysis, const Phases& phases, const Ledger& ledger, std::size_t most_rows) {
  return LaneMaker(analysis, phases, ledger, most_rows).finish();
}

}  // namespace mindtorch::analyze

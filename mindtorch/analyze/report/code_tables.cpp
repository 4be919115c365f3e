// Times by the places of a program.
#include "mindtorch/analyze/report/code_tables.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "mindtorch/trace/open_spans.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

void sort_and_cut(std::vector<OpRow>& rows, std::size_t most_rows) {
  std::ranges::stable_sort(rows, std::ranges::greater{}, [](const OpRow& row) { return row.self_ns + row.self_device_ns; });
  if (rows.size() > most_rows) rows.resize(most_rows);
}

class ModuleTable {
 public:
  explicit ModuleTable(const Analysis& analysis) : analysis_(analysis), recording_(analysis.recording()) {}

  std::vector<OpRow> finish() {
    for (const trace::Track& track : recording_.tracks) {
      open_.clear();
      for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) add(i);
    }
    return std::move(rows_);
  }

 private:
  void add(EventIndex i) {
    open_.close_until(recording_.events.start_ns[i]);
    if (recording_.events.kind[i] == EventKind::kModule) {
      open_module(i);
    } else if (analysis_.tree().is_node(i) && !open_.empty()) {
      add_work(i);
    }
  }

  void open_module(EventIndex i) {
    const auto [at, is_new] = row_of_.emplace(recording_.events.name[i], rows_.size());
    if (is_new) rows_.push_back({.name = std::string(recording_.name(i)), .kind = "module"});
    OpRow& row = rows_[at->second];
    const std::int64_t duration = recording_.events.duration_ns[i];
    row.add_call(duration);
    row.self_ns += duration;
    row.total_ns += duration;
    if (!open_.empty()) rows_[open_.innermost()].self_ns -= duration;
    open_.open(recording_.events.end_ns(i), at->second);
  }

  void add_work(EventIndex i) {
    const std::int64_t device = analysis_.launches().self_ns(i);
    const MemoryDelta memory = analysis_.memory_use().self(i);
    rows_[open_.innermost()].self_device_ns += device;
    rows_[open_.innermost()].memory += memory.cpu + memory.device;
    for (const auto& module : open_.all()) rows_[module.value].device_ns += device;
  }

  const Analysis& analysis_;
  const trace::Recording& recording_;
  std::vector<OpRow> rows_;
  std::unordered_map<trace::NameId, std::size_t> row_of_;
  trace::OpenSpans<std::size_t> open_;  // places of rows
};

std::string innermost_line(const Analysis& analysis, trace::StackId stack) {
  const std::vector<std::string> frames = analysis.stacks().user_frames(stack, 1);
  return frames.empty() ? std::string() : frames.front();
}

using StackTimes = std::map<trace::StackId, std::int64_t>;

// The innermost lines of the user's code in these stacks, most time first.
std::vector<std::string> largest_lines(const Analysis& analysis, const StackTimes& times, std::size_t limit) {
  std::map<std::string, std::int64_t> by_line;
  for (const auto& [stack, time] : times) by_line[innermost_line(analysis, stack)] += time;
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (auto& [line, time] : by_line) {
    if (!line.empty()) sorted.emplace_back(time, line);
  }
  std::ranges::sort(sorted, std::ranges::greater{});
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < std::min(limit, sorted.size()); ++k) lines.push_back(std::move(sorted[k].second));
  return lines;
}

}  // namespace

std::vector<OpRow> module_rows(const Analysis& analysis, std::size_t most_rows) {
  std::vector<OpRow> rows = ModuleTable(analysis).finish();
  sort_and_cut(rows, most_rows);
  return rows;
}

std::vector<OpRow> line_rows(const Analysis& analysis, std::size_t most_rows) {
  std::vector<OpRow> rows;
  if (analysis.stacks().empty()) return rows;
  const std::vector<std::uint32_t> groups = analysis.stacks().group_by_user_frames(1);
  std::unordered_map<std::uint32_t, std::size_t> row_of;
  for (EventIndex i = 0; i < analysis.recording().events.size(); ++i) {
    if (!analysis.tree().is_node(i)) continue;
    const auto stack = analysis.stacks().of(i);
    if (!stack) continue;
    const auto [at, is_new] = row_of.emplace(groups[*stack], rows.size());
    if (is_new) rows.push_back({.name = innermost_line(analysis, *stack), .kind = "line"});
    OpRow& row = rows[at->second];
    const MemoryDelta memory = analysis.memory_use().self(i);
    row.add_call(analysis.recording().events.duration_ns[i]);
    row.self_ns += analysis.tree().self_ns(i);
    row.self_device_ns += analysis.launches().self_ns(i);
    row.memory += memory.cpu + memory.device;
  }
  for (OpRow& row : rows) row.total_ns = row.self_ns, row.device_ns = row.self_device_ns;
  sort_and_cut(rows, most_rows);
  return rows;
}

std::vector<OpRow> seen_line_rows(const Analysis& analysis, const Phases& phases, std::size_t most_rows) {
  const trace::Recording& recording = analysis.recording();
  if (recording.tracks.empty()) return {};
  const Attribution& attribution = phases.attribution();
  std::map<std::string_view, OpRow> rows;
  const auto row_of = [&](PlaceId place) -> OpRow& {
    const std::string& line = attribution.place(place).line;
    return rows.try_emplace(line, OpRow{.name = line, .kind = "line"}).first->second;
  };
  for (trace::TrackId t = 0; t < recording.tracks.size(); ++t) {
    if (recording.tracks[t].pid != recording.tracks[phases.main_track()].pid) continue;
    for (const Segment& segment : attribution.of(t)) {
      if (segment.place == kNoPlace || attribution.place(segment.place).line.empty()) continue;
      OpRow& row = row_of(segment.place);
      row.add_call(segment.duration_ns());
      row.self_ns += segment.duration_ns();
      row.by_phase[static_cast<std::size_t>(segment.cause)] += segment.duration_ns();
    }
  }
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    if (!is_device_work(recording.events.kind[i])) continue;
    const EventIndex call = analysis.launches().launch_of(i);
    if (call == kNoEvent) continue;
    const PlaceId place = attribution.place_at(recording.track_of(call), recording.events.start_ns[call]);
    if (place != kNoPlace && !attribution.place(place).line.empty()) row_of(place).self_device_ns += recording.events.duration_ns[i];
  }
  std::vector<OpRow> sorted;
  for (auto& [line, row] : rows) {
    row.total_ns = row.self_ns;
    row.device_ns = row.self_device_ns;
    sorted.push_back(std::move(row));
  }
  settle_phases(sorted);
  sort_and_cut(sorted, most_rows);
  return sorted;
}

std::vector<std::string> lines_of(const Analysis& analysis, const std::vector<EventIndex>& events, std::size_t limit) {
  if (analysis.stacks().empty()) return {};
  StackTimes times;
  for (const EventIndex event : events) {
    if (const auto stack = analysis.stacks().of(event)) times[*stack] += analysis.recording().events.duration_ns[event];
  }
  return largest_lines(analysis, times, limit);
}

std::vector<std::string> lines_launching(const Analysis& analysis, bool (*is_meant)(std::string_view kernel), std::size_t limit) {
  if (analysis.stacks().empty()) return {};
  const trace::Recording& recording = analysis.recording();
  StackTimes times;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    if (!is_device_work(recording.events.kind[i]) || !is_meant(recording.name(i))) continue;
    const EventIndex host = analysis.launches().host_of(i);
    if (host == kNoEvent) continue;
    if (const auto stack = analysis.stacks().of(host)) times[*stack] += recording.events.duration_ns[i];
  }
  return largest_lines(analysis, times, limit);
}

}  // namespace mindtorch::analyze

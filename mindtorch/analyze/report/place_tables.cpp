// Place tables: each call gets the number of its place, and calls of one name and one place are a row.
#include "mindtorch/analyze/report/place_tables.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "mindtorch/analyze/arguments.h"
#include "mindtorch/trace/open_spans.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

// Numbers the places of one kind, and gives their texts. Ask for the events of a track in order.
class PlaceNumbers {
 public:
  PlaceNumbers(const Analysis& analysis, OpPlace kind) : analysis_(analysis), recording_(analysis.recording()), kind_(kind) {
    if (kind_ == OpPlace::kLine && !analysis_.stacks().empty()) line_of_stack_ = analysis_.stacks().group_by_user_frames(1);
  }

  void begin_track() { open_modules_.clear(); }

  std::optional<std::uint32_t> place_of(EventIndex event) {
    if (kind_ == OpPlace::kModule) return module_around(event);
    if (kind_ == OpPlace::kLine) return line_of(event);
    const auto words = recording_.inputs.find(event);
    return words.empty() ? std::nullopt : std::optional(shapes_.id(words));
  }

  // Of an event for which place_of() gave a place.
  std::string text_of(EventIndex event) const {
    if (kind_ == OpPlace::kShapes) return shapes_text(input_shapes(recording_.inputs.find(event)));
    if (kind_ == OpPlace::kModule) return std::string(recording_.name(open_modules_.innermost()));
    const std::vector<std::string> frames = analysis_.stacks().user_frames(*analysis_.stacks().of(event), 1);
    return frames.empty() ? std::string() : frames.front();
  }

 private:
  std::optional<std::uint32_t> module_around(EventIndex event) {
    open_modules_.close_until(recording_.events.start_ns[event]);
    if (recording_.events.kind[event] == EventKind::kModule) {
      open_modules_.open(recording_.events.end_ns(event), event);
      return std::nullopt;  // the module itself is in the table of modules
    }
    if (open_modules_.empty()) return std::nullopt;
    return recording_.events.name[open_modules_.innermost()];
  }

  std::optional<std::uint32_t> line_of(EventIndex event) const {
    if (line_of_stack_.empty()) return std::nullopt;
    const auto stack = analysis_.stacks().of(event);
    return stack ? std::optional(line_of_stack_[*stack]) : std::nullopt;
  }

  const Analysis& analysis_;
  const trace::Recording& recording_;
  const OpPlace kind_;
  ShapeIds shapes_;
  std::vector<std::uint32_t> line_of_stack_;  // by StackId
  trace::OpenSpans<EventIndex> open_modules_;
};

}  // namespace

std::vector<OpRow> rows_by_place(const Analysis& analysis, const Phases& phases, OpPlace place, std::size_t most_rows) {
  const trace::Recording& recording = analysis.recording();
  PlaceNumbers places(analysis, place);
  std::vector<OpRow> rows;
  std::unordered_map<std::uint64_t, std::size_t> row_of;  // by key of the name and number of the place
  for (const trace::Track& track : recording.tracks) {
    places.begin_track();
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      const std::optional<std::uint32_t> where = places.place_of(i);
      if (!where || !is_host_work(analysis, i)) continue;
      const EventNames::Key name = analysis.names().key(recording.events.name[i]);
      const auto [at, is_new] = row_of.emplace(std::uint64_t{name} << 32 | *where, rows.size());
      if (is_new) {
        rows.push_back(row_for(analysis, i));
        rows.back().place = places.text_of(i);
      }
      add_host_call(rows[at->second], analysis, phases, i);
    }
  }
  settle_phases(rows);
  std::ranges::stable_sort(rows, std::ranges::greater{}, [](const OpRow& row) { return row.self_ns + row.self_device_ns; });
  if (rows.size() > most_rows) rows.resize(most_rows);
  return rows;
}

}  // namespace mindtorch::analyze

// StepProfile: one pass over the events, each added to its row and step.
#include "mindtorch/analyze/diff/step_profile.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "mindtorch/analyze/arguments.h"
#include "mindtorch/analyze/attribution.h"
#include "mindtorch/analyze/function_event.h"
#include "mindtorch/analyze/grouping.h"
#include "mindtorch/analyze/iterations.h"
#include "mindtorch/analyze/memory_timeline.h"
#include "mindtorch/trace/open_spans.h"

namespace mindtorch::analyze {
namespace {

class Profiling {
 public:
  Profiling(const Analysis& analysis, const StepProfileOptions& options)
      : analysis_(analysis),
        options_(options),
        recording_(analysis.recording()),
        attribution_(analysis),
        grouping_(analysis, {.group_by_input_shape = options.by_shape}) {
    Iterations found = find_iterations(analysis, attribution_.main_track());
    profile_.has_steps = !found.steps.empty();
    profile_.unit = std::move(found.unit);
    steps_ = std::move(found.steps);
    const RecordedTime whole = attribution_.time();
    if (steps_.empty()) steps_.push_back({.start_ns = whole.start_ns, .duration_ns = whole.end_ns - whole.start_ns});
    for (const Step& step : steps_) profile_.step_time.push_back(static_cast<double>(step.duration_ns));
    profile_.device_time.resize(steps_.size());
  }

  StepProfile finish() {
    for (const trace::Track& track : recording_.tracks) add_track(track);
    merge_equal_keys();
    profile_.parts = step_parts(analysis_, attribution_, steps_);
    for (const trace::Device device : memory_devices(recording_))
      profile_.peaks.push_back({device, memory_timeline(analysis_, device).peak});
    return std::move(profile_);
  }

 private:
  // The step in which a moment lies. Without step marks everything belongs to the one step.
  std::optional<std::size_t> step_at(std::int64_t time_ns) const {
    if (!profile_.has_steps) return 0;
    const auto after = std::ranges::upper_bound(steps_, time_ns, {}, &Step::start_ns);
    if (after == steps_.begin()) return std::nullopt;
    const Step& step = *(after - 1);
    if (time_ns >= step.start_ns + step.duration_ns) return std::nullopt;
    return static_cast<std::size_t>(after - steps_.begin()) - 1;
  }

  // Device work counts in the step that launched it: it may run in the next one.
  std::int64_t time_of(EventIndex event) const {
    if (trace::is_device_kind(recording_.events.kind[event])) {
      const EventIndex launch = analysis_.launches().launch_of(event);
      if (launch != kNoEvent) return recording_.events.start_ns[launch];
    }
    return recording_.events.start_ns[event];
  }

  void add_track(const trace::Track& track) {
    open_modules_.clear();
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      const trace::EventKind kind = recording_.events.kind[i];
      if (options_.by_module) follow_modules(i);
      if (!analysis_.tree().is_averaged(i) || kind == trace::EventKind::kStep) continue;
      if (trace::is_device_kind(kind) && !is_device_work(kind)) continue;
      if (const auto step = step_at(time_of(i))) add(i, *step);
    }
  }

  void follow_modules(EventIndex event) {
    open_modules_.close_until(recording_.events.start_ns[event]);
    if (recording_.events.kind[event] == trace::EventKind::kModule) open_modules_.open(recording_.events.end_ns(event), event);
  }

  void add(EventIndex event, std::size_t step) {
    WorkRow& row = row_of(event);
    const bool on_device = trace::is_device_kind(recording_.events.kind[event]);
    const bool is_node = analysis_.tree().is_node(event);
    row.calls[step] += 1;
    if (on_device) row.time[step] += static_cast<double>(recording_.events.duration_ns[event]);
    if (!on_device && is_node) row.time[step] += static_cast<double>(analysis_.tree().self_ns(event));
    if (is_node) {
      const double spent = static_cast<double>(analysis_.tree().self_ns(event) + analysis_.launches().self_ns(event));
      reader_.add(arguments_of(event), spent, row.arguments);
      row.launched[step] += static_cast<double>(analysis_.launches().self_ns(event));
      profile_.device_time[step] += static_cast<double>(analysis_.launches().self_ns(event));
      const MemoryDelta delta = analysis_.memory_use().self(event);
      row.memory[step] += static_cast<double>(delta.cpu + delta.device);
    }
  }

  // Rows are found by numbers; the texts of a key are made once per row.
  WorkRow& row_of(EventIndex event) {
    const std::uint64_t group = grouping_.group_of(event);
    const NameId module = open_modules_.empty() ? 0 : recording_.events.name[open_modules_.innermost()];
    const auto [at, is_new] = row_ids_.emplace(group << 32 | module, profile_.rows.size());
    if (is_new) {
      WorkRow& row = profile_.rows.emplace_back(WorkRow{.key = key_of(event, module), .parent = parent_name(event)});
      for (std::vector<double>* values : {&row.calls, &row.time, &row.launched, &row.memory}) values->assign(steps_.size(), 0);
    }
    return profile_.rows[at->second];
  }

  // Empty if none were recorded. Events must be asked about in increasing order.
  std::span<const std::int64_t> arguments_of(EventIndex event) {
    const trace::SideTable<std::int64_t>& inputs = recording_.inputs;
    while (input_row_ < inputs.events.size() && inputs.events[input_row_] < event) ++input_row_;
    if (input_row_ == inputs.events.size() || inputs.events[input_row_] != event) return {};
    return inputs.row(input_row_);
  }

  std::string text_of(EventIndex event) const {
    const EventNames& names = analysis_.names();
    return std::string(names.text(names.key(recording_.events.name[event])));
  }

  std::string parent_name(EventIndex event) const {
    const bool on_device = trace::is_device_kind(recording_.events.kind[event]);
    const EventIndex parent = on_device ? analysis_.launches().host_of(event) : analysis_.tree().parent(event);
    return parent == kNoEvent ? std::string() : text_of(parent);
  }

  WorkKey key_of(EventIndex event, NameId module) const {
    WorkKey key{.name = text_of(event), .module = recording_.names[module]};
    if (trace::is_device_kind(recording_.events.kind[event])) {
      key.timeline = recording_.events.device[event].type;
    } else if ((recording_.events.flags[event] & trace::kKnownDevice) != 0) {
      key.op_device = recording_.events.device[event].type;
    }
    if (options_.by_shape) {
      const Shapes shapes = FunctionEvent(analysis_, event).shapes();
      if (!shapes.empty()) key.shapes = shapes_text(shapes);
    }
    return key;
  }

  // Scopes and ops of one name are one row: groups tell them apart, keys do not.
  void merge_equal_keys() {
    std::ranges::stable_sort(profile_.rows, {}, &WorkRow::key);
    std::vector<WorkRow> merged;
    for (WorkRow& row : profile_.rows) {
      if (merged.empty() || merged.back().key != row.key) {
        merged.push_back(std::move(row));
        continue;
      }
      for (std::size_t step = 0; step < steps_.size(); ++step) {
        merged.back().calls[step] += row.calls[step];
        merged.back().time[step] += row.time[step];
        merged.back().launched[step] += row.launched[step];
        merged.back().memory[step] += row.memory[step];
      }
      merged.back().arguments.add(row.arguments);
    }
    profile_.rows = std::move(merged);
  }

  const Analysis& analysis_;
  const StepProfileOptions options_;
  const trace::Recording& recording_;
  const Attribution attribution_;
  std::vector<Step> steps_;
  StepProfile profile_;
  Grouping grouping_;
  ArgumentReader reader_;
  std::size_t input_row_ = 0;                               // of the events that come next
  std::unordered_map<std::uint64_t, std::size_t> row_ids_;  // by group and module
  trace::OpenSpans<EventIndex> open_modules_;
};

}  // namespace

StepProfile step_profile(const Analysis& analysis, const StepProfileOptions& options) { return Profiling(analysis, options).finish(); }

}  // namespace mindtorch::analyze

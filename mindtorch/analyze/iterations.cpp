// Looks for what repeats: the first kind that is there at least three times is taken.
#include "mindtorch/analyze/iterations.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "mindtorch/base/text.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

constexpr std::size_t kFewest = 3;  // of what repeats

// The number that follows a word, -1 if there is none.
std::int64_t number_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return -1;
  std::int64_t number = -1;
  for (std::size_t k = at + word.size(); k < text.size() && text[k] >= '0' && text[k] <= '9' && number < 1'000'000'000; ++k)
    number = std::max<std::int64_t>(0, number) * 10 + (text[k] - '0');
  return number;
}

class Finder {
 public:
  Finder(const Analysis& analysis, trace::TrackId main_track)
      : analysis_(analysis), recording_(analysis.recording()), main_track_(main_track) {}

  Iterations find() {
    Iterations found;
    found.steps = steps(analysis_);
    const bool has_events = std::ranges::any_of(recording_.events.kind, [](EventKind kind) { return kind == EventKind::kStep; });
    // The only step between marks may be one that never ended.
    if (!found.steps.empty() && (has_events || found.steps.size() > 1)) {
      found.origin = Iterations::Origin::kSteps;
      return found;
    }
    found.steps.clear();
    if (recording_.tracks.empty() || recording_.tracks[main_track_].kind != trace::Track::Kind::kThread) return found;
    if (!find_batches(found) && !find_scopes(found) && !find_optimizer_steps(found)) find_modules(found);
    return found;
  }

 private:
  // Calls `visit(event)` for the events of the main thread.
  template <class Visit>
  void for_events(Visit visit) const {
    const trace::Track& track = recording_.tracks[main_track_];
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) visit(i);
  }

  void add(Iterations& found, std::int64_t start, std::int64_t end) const {
    // Neighbours may overlap a little, because times of other tools are rounded; what lies inside of another one does not count.
    if (!found.steps.empty() && start < found.steps.back().start_ns + found.steps.back().duration_ns / 10 * 9) return;
    found.steps.push_back({.number = static_cast<std::int64_t>(found.steps.size()), .start_ns = start, .duration_ns = end - start});
  }

  bool finish(Iterations& found, Iterations::Origin origin, std::string unit) const {
    if (found.steps.size() < kFewest) {
      found.steps.clear();
      found.stages.clear();
      return false;
    }
    found.origin = origin;
    found.unit = std::move(unit);
    return true;
  }

  bool find_batches(Iterations& found) const {
    std::vector<std::string> stage_of(recording_.names.size());
    bool is_there = false;
    for (NameId name = 0; name < recording_.names.size(); ++name) {
      stage_of[name] = engine_stage(recording_.names[name]);
      is_there |= !stage_of[name].empty();
    }
    if (!is_there) return false;
    for_events([&](EventIndex i) {
      const std::string& stage = stage_of[recording_.events.name[i]];
      if (recording_.events.kind[i] != EventKind::kScope || stage.empty()) return;
      const std::size_t before = found.steps.size();
      add(found, recording_.events.start_ns[i], recording_.events.end_ns(i));
      if (found.steps.size() > before) found.stages.push_back(stage);
    });
    // An engine names what it does: two of its batches are more than nothing.
    if (found.steps.empty()) return false;
    found.origin = Iterations::Origin::kEngine;
    found.unit = "iteration";
    return true;
  }

  struct Repeated {
    std::int64_t time_ns = 0, first_ns = 0, last_ns = 0;
    std::vector<EventIndex> calls;
  };

  // The outermost scope of the user that fills most of the time between its first and its last call.
  bool find_scopes(Iterations& found) const {
    std::map<EventNames::Key, Repeated> scopes;
    std::int64_t open_until = std::numeric_limits<std::int64_t>::min();
    for_events([&](EventIndex i) {
      if (recording_.events.kind[i] != EventKind::kScope || !analysis_.tree().is_node(i)) return;
      if (recording_.events.start_ns[i] < open_until) return;
      open_until = recording_.events.end_ns(i);
      const std::string_view name = recording_.name(i);
      if (name.starts_with("Optimizer.") || name.starts_with("enumerate(DataLoader") || name.starts_with("DataLoader") ||
          name.ends_with("(dynamo_timed)") || contains(name, "Torch-Compiled"))
        return;
      Repeated& scope = scopes[analysis_.names().key(recording_.events.name[i])];
      if (scope.calls.empty()) scope.first_ns = recording_.events.start_ns[i];
      scope.time_ns += recording_.events.duration_ns[i];
      scope.last_ns = recording_.events.end_ns(i);
      scope.calls.push_back(i);
    });
    const Repeated* most = nullptr;
    for (const auto& [key, scope] : scopes) {
      if (scope.calls.size() >= kFewest && (most == nullptr || scope.time_ns > most->time_ns)) most = &scope;
    }
    if (most == nullptr || 2 * most->time_ns < most->last_ns - most->first_ns) return false;
    for (const EventIndex call : most->calls) add(found, recording_.events.start_ns[call], recording_.events.end_ns(call));
    return finish(found, Iterations::Origin::kScopes, std::string(recording_.name(most->calls.front())));
  }

  bool find_optimizer_steps(Iterations& found) const {
    std::int64_t before = std::numeric_limits<std::int64_t>::min();
    NameId first = 0;
    for_events([&](EventIndex i) {
      if (recording_.events.kind[i] != EventKind::kScope || !recording_.name(i).starts_with("Optimizer.step")) return;
      if (first == 0) first = recording_.events.name[i];
      if (recording_.events.name[i] != first) return;  // with several optimizers, the first one counts
      const std::int64_t end = recording_.events.end_ns(i);
      if (before != std::numeric_limits<std::int64_t>::min()) add(found, before, end);
      before = end;
    });
    return finish(found, Iterations::Origin::kOptimizer, "step");
  }

  bool find_modules(Iterations& found) const {
    std::map<NameId, std::vector<EventIndex>> calls;
    std::int64_t open_until = std::numeric_limits<std::int64_t>::min();
    for_events([&](EventIndex i) {
      if (recording_.events.kind[i] != EventKind::kModule || recording_.events.start_ns[i] < open_until) return;
      open_until = recording_.events.end_ns(i);
      calls[recording_.events.name[i]].push_back(i);
    });
    const auto most = std::ranges::max_element(calls, {}, [](const auto& entry) { return entry.second.size(); });
    if (most == calls.end() || most->second.size() < kFewest) return false;
    const std::vector<EventIndex>& list = most->second;
    for (std::size_t k = 0; k < list.size(); ++k) {
      const bool is_last = k + 1 == list.size();
      add(found, recording_.events.start_ns[list[k]],
          is_last ? recording_.events.end_ns(list[k]) : recording_.events.start_ns[list[k + 1]]);
    }
    return finish(found, Iterations::Origin::kModules, "call of " + std::string(recording_.names[most->first]));
  }

  const Analysis& analysis_;
  const trace::Recording& recording_;
  const trace::TrackId main_track_;
};

}  // namespace

std::string engine_stage(std::string_view name) {
  if (name.starts_with("execute_") && contains(name, "context_")) {
    const std::int64_t prompts = number_after(name, "context_"), generations = number_after(name, "_generation_");
    if (prompts > 0 && generations > 0) return "mixed";
    return prompts > 0 ? "prefill" : generations > 0 ? "decode" : "idle";
  }
  if (!name.starts_with("step[") || !contains(name, "bs=")) return {};
  std::string stage(name.substr(5, name.find(' ') == std::string_view::npos ? 0 : name.find(' ') - 5));
  std::ranges::transform(stage, stage.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return stage == "extend" ? "prefill" : stage;
}

Iterations find_iterations(const Analysis& analysis, trace::TrackId main_track) { return Finder(analysis, main_track).find(); }

}  // namespace mindtorch::analyze

// Step parts: one walk over the segments of a thread.
#include "mindtorch/analyze/diff/step_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "mindtorch/analyze/analysis.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

class PartWalk {
 public:
  PartWalk(const Analysis& analysis, const Attribution& attribution, const std::vector<Step>& steps)
      : analysis_(analysis), attribution_(attribution), steps_(steps) {}

  std::vector<StepPart> walk() {
    for (const Segment& segment : attribution_.of(attribution_.main_track())) {
      add(segment);
      if (is_work(segment.event)) last_ = segment.event;
    }
    std::vector<StepPart> parts;
    for (auto& [key, part] : parts_) parts.push_back(std::move(part));
    return parts;
  }

 private:
  void add(const Segment& segment) {
    while (step_ < steps_.size() && end_of(step_) <= segment.start_ns) ++step_;
    StepPart* part = nullptr;
    for (std::size_t k = step_; k < steps_.size() && steps_[k].start_ns < segment.end_ns; ++k) {
      const std::int64_t spent = std::min(segment.end_ns, end_of(k)) - std::max(segment.start_ns, steps_[k].start_ns);
      if (spent <= 0) continue;
      if (part == nullptr) part = &part_of(segment);
      part->time[k] += static_cast<double>(spent);
    }
  }

  std::int64_t end_of(std::size_t step) const { return steps_[step].start_ns + steps_[step].duration_ns; }

  EventKind kind_of(EventIndex event) const { return analysis_.recording().events.kind[event]; }

  // Ops and calls, as opposed to scopes, modules and Python functions, which only say what is around.
  bool is_work(EventIndex event) const {
    if (event == kNoEvent) return false;
    const EventKind kind = kind_of(event);
    return kind == EventKind::kOp || kind == EventKind::kBackward || trace::is_launch_kind(kind);
  }

  // Texts of a part are made once for each of these: what the segment belongs to, what was before it, its place and its cause.
  using Identity = std::tuple<std::int64_t, std::int64_t, PlaceId, Cause>;

  StepPart& part_of(const Segment& segment) {
    const bool is_op = is_work(segment.event);
    const bool is_nameless = !is_op && segment.place == kNoPlace;
    const Identity identity{name_of(segment.event), is_nameless ? name_of(last_) : -1, is_op ? kNoPlace : segment.place, segment.cause};
    const auto [at, is_new] = known_.emplace(identity, nullptr);
    if (is_new) {
      PartKey key = key_of(segment);
      StepPart& part = parts_[key];
      if (part.time.empty()) {
        part.key = std::move(key);
        part.time.resize(steps_.size());
        if (!is_op) part.line = attribution_.place(segment.place).line;
      }
      at->second = &part;
    }
    return *at->second;
  }

  std::int64_t name_of(EventIndex event) const { return event == kNoEvent ? -1 : analysis_.recording().events.name[event]; }

  std::string text_of(EventIndex event) const {
    const EventNames& names = analysis_.names();
    return std::string(names.text(names.key(analysis_.recording().events.name[event])));
  }

  PartKey key_of(const Segment& segment) const {
    std::string cause(cause_name(segment.cause));
    if (is_work(segment.event)) return {std::move(cause), text_of(segment.event), true};
    if (segment.place != kNoPlace) return {std::move(cause), text_of(attribution_.place(segment.place))};
    const bool has_scope = segment.event != kNoEvent && kind_of(segment.event) != EventKind::kStep;
    if (has_scope && segment.cause != Cause::kUnknown) return {std::move(cause), text_of(segment.event)};
    std::string name = last_ == kNoEvent ? std::string("before the first op") : fmt::format("after {}", text_of(last_));
    return {std::move(cause), std::move(name)};
  }

  // Without the number of the line, which changes when lines above it do.
  static std::string text_of(const Place& place) {
    const std::string file = std::filesystem::path(place.line.substr(0, place.line.find(':'))).filename().string();
    std::string text = file.empty() ? place.function : fmt::format("{} in {}", place.function, file);
    if (!place.called.empty()) text += fmt::format(", calling {}", place.called);
    return text;
  }

  const Analysis& analysis_;
  const Attribution& attribution_;
  const std::vector<Step>& steps_;  // by start
  std::size_t step_ = 0;            // no step before it is reached again
  EventIndex last_ = kNoEvent;      // the op that was open last
  std::map<PartKey, StepPart> parts_;
  std::map<Identity, StepPart*> known_;
};

}  // namespace

std::string PartKey::title() const { return is_work ? fmt::format("{} ({})", name, cause) : fmt::format("{}: {}", cause, name); }

std::vector<StepPart> step_parts(const Analysis& analysis, const Attribution& attribution, const std::vector<Step>& steps) {
  if (steps.empty() || analysis.recording().tracks.empty()) return {};
  return PartWalk(analysis, attribution, steps).walk();
}

}  // namespace mindtorch::analyze

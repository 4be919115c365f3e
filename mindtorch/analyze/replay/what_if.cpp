// Each selector has a bit; the time that the same selectors match is one class.
#include "mindtorch/analyze/replay/what_if.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "mindtorch/analyze/replay/replay.h"
#include "mindtorch/base/error.h"
#include "mindtorch/base/text.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

constexpr std::string_view kWhere = "analyze.what_if";
constexpr std::string_view kTypes = "op:NAME, kernel:NAME, cause:NAME, python:FUNCTION, line:FILE:LINE, loading, copies and collectives";
constexpr std::size_t kMostSelectors = 64;
constexpr std::size_t kMostNamed = 6;  // in a message
constexpr double kLargestFactor = 1e6;

// In the order of Cause.
constexpr std::array<std::string_view, kCauses> kCauseIds = {
    "forward", "backward", "optimizer", "loading", "copies", "collectives", "device_wait", "python",      "unknown",  "compiling",
    "lock",    "gil",      "io",        "thread",  "sleep",  "garbage",     "native",      "not_running", "overhead", "requests"};
constexpr std::array<std::string_view, kBesides> kBesideNames = {"collectives", "copies", "loading"};  // in the order of Beside

bool matches(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t from = star; from <= text.size(); ++from)
    if (matches(rest, text.substr(from))) return true;
  return false;
}

enum class Type : std::uint8_t { kOp, kKernel, kCause, kPython, kLine };

struct Selector {
  std::string text;  // as it was given
  Type type = Type::kOp;
  std::string value;
  Cause cause = Cause::kUnknown;  // of kCause
};

std::optional<Cause> find_cause(std::string_view value) {
  if (value == "collective") return Cause::kCollective;
  for (std::size_t k = 0; k < kCauses; ++k)
    if (value == kCauseIds[k] || value == cause_name(static_cast<Cause>(k))) return static_cast<Cause>(k);
  return std::nullopt;
}

Selector parse_selector(const std::string& text) {
  Selector selector{.text = text};
  const std::size_t colon = text.find(':');
  const std::string type = text.substr(0, colon);
  const bool is_short = colon == std::string::npos;
  if (is_short && (text == "loading" || text == "copies" || text == "collectives" || text == "collective")) {
    selector.type = Type::kCause, selector.value = text;
  } else if (!is_short && type == "op") {
    selector.type = Type::kOp;
  } else if (!is_short && type == "kernel") {
    selector.type = Type::kKernel;
  } else if (!is_short && type == "cause") {
    selector.type = Type::kCause;
  } else if (!is_short && type == "python") {
    selector.type = Type::kPython;
  } else if (!is_short && type == "line") {
    selector.type = Type::kLine;
  } else {
    throw_error<InvalidArgument>(kWhere, "'{}' is no selector; selectors are {}", text, kTypes);
  }
  if (!is_short) selector.value = text.substr(colon + 1);
  if (selector.value.empty()) throw_error<InvalidArgument>(kWhere, "the selector '{}' has no name", text);
  if (selector.type == Type::kCause) {
    const std::optional<Cause> cause = find_cause(selector.value);
    if (!cause) throw_error<InvalidArgument>(kWhere, "there is no cause '{}'; causes are {}", selector.value, fmt::join(kCauseIds, ", "));
    selector.cause = *cause;
  }
  return selector;
}

bool is_op_kind(EventKind kind) {
  return kind == EventKind::kOp || kind == EventKind::kBackward || kind == EventKind::kScope || kind == EventKind::kModule;
}

// "/home/me/train.py:12" of "/home/me/train.py:12:main".
std::string_view without_function(std::string_view line) { return line.substr(0, line.rfind(':')); }

// What the selectors match, by name, place and cause.
class Matcher {
 public:
  using Mask = std::uint64_t;

  Matcher(const Analysis& analysis, const Phases& phases, std::vector<Selector> selectors)
      : analysis_(analysis), phases_(phases), selectors_(std::move(selectors)), matched_(0) {
    const trace::Recording& recording = analysis.recording();
    std::vector<Mask> op_names(recording.names.size()), kernel_names(recording.names.size());
    for (NameId name = 0; name < recording.names.size(); ++name) {
      const std::string_view text = shown_name(name);
      op_names[name] = mask_of(Type::kOp, [&](const Selector& selector) { return matches(selector.value, text); });
      kernel_names[name] = mask_of(Type::kKernel, [&](const Selector& selector) { return matches(selector.value, text); });
    }
    masks_.resize(recording.events.size());
    for (EventIndex i = 0; i < recording.events.size(); ++i) {
      const EventKind kind = recording.events.kind[i];
      const EventIndex parent = analysis.tree().parent(i);
      masks_[i] = is_op_kind(kind) ? op_names[recording.events.name[i]] : 0;
      if (is_device_work(kind)) masks_[i] |= kernel_names[recording.events.name[i]];
      if (parent != kNoEvent && parent < i) masks_[i] |= masks_[parent];
    }
  }

  TimeClass of_host(const HostTime& time) {
    Mask mask = of_place(time.segment.place) | of_cause(time.segment.cause);
    if (time.segment.event != kNoEvent) mask |= masks_[time.segment.event];
    return class_of(mask);
  }

  // What launched the work has it, too.
  TimeClass of_device(const DeviceTime& time) {
    const trace::Recording& recording = analysis_.recording();
    Mask mask = masks_[time.work] | masks_[time.launch] | of_cause(phases_.of(time.launch));
    if (const EventIndex host = analysis_.launches().host_of(time.work); host != kNoEvent)
      mask |= masks_[host] | of_cause(phases_.of(host));
    mask |= of_place(phases_.attribution().place_at(recording.track_of(time.launch), recording.events.start_ns[time.launch]));
    if (time.phase == DevicePhase::kCollective) mask |= of_cause(Cause::kCollective);
    if (recording.events.kind[time.work] == EventKind::kMemcpy) mask |= of_cause(Cause::kCopy);
    return class_of(mask);
  }

  const std::vector<Mask>& classes() const { return classes_; }
  const std::vector<Selector>& selectors() const { return selectors_; }

  // Throws if a selector matched nothing.
  void check_all_matched() const {
    for (std::size_t k = 0; k < selectors_.size(); ++k) {
      if ((matched_ >> k & 1) != 0) continue;
      const std::vector<std::string> there = what_there_is(selectors_[k].type);
      throw_error<InvalidArgument>(
          kWhere, "'{}' matches nothing in the steps of this recording; {}", selectors_[k].text,
          there.empty() ? "it has nothing of this kind" : fmt::format("there are, most time first: {}", fmt::join(there, ", ")));
    }
  }

 private:
  template <class IsMeant>
  Mask mask_of(Type type, IsMeant is_meant) const {
    Mask mask = 0;
    for (std::size_t k = 0; k < selectors_.size(); ++k)
      if (selectors_[k].type == type && is_meant(selectors_[k])) mask |= Mask{1} << k;
    return mask;
  }

  std::string_view shown_name(NameId name) const {
    const EventNames::Key key = analysis_.names().key(name);
    return key == EventNames::kHidden ? std::string_view(analysis_.recording().names[name]) : analysis_.names().text(key);
  }

  Mask of_cause(Cause cause) const {
    return mask_of(Type::kCause, [&](const Selector& selector) { return selector.cause == cause; });
  }

  Mask of_place(PlaceId id) {
    const auto [at, is_new] = places_.try_emplace(id, 0);
    if (!is_new || id == kNoPlace) return at->second;
    const Place& place = phases_.attribution().place(id);
    const std::string_view line = without_function(place.line);
    at->second = mask_of(Type::kPython, [&](const Selector& selector) { return matches(selector.value, place.function); }) |
                 mask_of(Type::kLine,
                         [&](const Selector& selector) { return matches(selector.value, line) || matches("*/" + selector.value, line); });
    return at->second;
  }

  TimeClass class_of(Mask mask) {
    matched_ |= mask;
    const auto [at, is_new] = class_ids_.try_emplace(mask, static_cast<TimeClass>(classes_.size()));
    if (is_new) classes_.push_back(mask);
    return at->second;
  }

  // Names with most time, for messages.
  std::vector<std::string> what_there_is(Type type) const {
    std::map<std::string, std::int64_t> times;
    const trace::Recording& recording = analysis_.recording();
    if (type == Type::kOp || type == Type::kKernel) {
      for (EventIndex i = 0; i < recording.events.size(); ++i) {
        const EventKind kind = recording.events.kind[i];
        const bool is_meant = type == Type::kOp ? kind == EventKind::kOp && analysis_.tree().is_node(i) : is_device_work(kind);
        if (!is_meant) continue;
        times[std::string(shown_name(recording.events.name[i]))] +=
            type == Type::kOp ? analysis_.tree().self_ns(i) + analysis_.launches().self_ns(i) : recording.events.duration_ns[i];
      }
    } else {
      for (const Segment& segment : phases_.attribution().of(phases_.main_track())) {
        const Place& place = phases_.attribution().place(segment.place);
        const std::string text = type == Type::kCause    ? std::string(kCauseIds[static_cast<std::size_t>(segment.cause)])
                                 : type == Type::kPython ? place.function
                                                         : std::string(without_function(place.line));
        times[text] += segment.duration_ns();
      }
    }
    times.erase("");
    std::vector<std::pair<std::int64_t, std::string>> sorted;
    for (const auto& [name, time] : times) sorted.emplace_back(time, name);
    std::ranges::sort(sorted, std::ranges::greater{});
    std::vector<std::string> names;
    for (std::size_t k = 0; k < std::min(kMostNamed, sorted.size()); ++k) names.push_back(sorted[k].second);
    return names;
  }

  const Analysis& analysis_;
  const Phases& phases_;
  std::vector<Selector> selectors_;
  std::vector<Mask> masks_;  // by event: its own and those of what is around it
  std::unordered_map<PlaceId, Mask> places_;
  std::unordered_map<Mask, TimeClass> class_ids_;
  std::vector<Mask> classes_;
  Mask matched_;
};

void check_factor(const std::string& selector, double factor) {
  if (!(factor >= 0 && factor <= kLargestFactor))
    throw_error<InvalidArgument>(kWhere, "the factor {} of '{}' is not from 0 to {}", factor, selector, kLargestFactor);
}

}  // namespace

std::pair<std::string, double> parse_scale(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0)
    throw_error<InvalidArgument>(kWhere, "'{}' is no selector with a factor, such as op:aten::mm=0.5", text);
  const std::string number(text.substr(equals + 1));
  char* end = nullptr;
  const double factor = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0') throw_error<InvalidArgument>(kWhere, "'{}' in '{}' is no number", number, text);
  std::pair<std::string, double> scale(text.substr(0, equals), factor);
  check_factor(scale.first, factor);
  return scale;
}

WhatIfAnswer what_if(const Analysis& analysis, const WhatIf& question) {
  std::vector<Selector> selectors;
  std::vector<double> factors;
  for (const auto& [text, factor] : question.scale) {
    check_factor(text, factor);
    selectors.push_back(parse_selector(text));
    factors.push_back(factor);
  }
  for (const std::string& text : question.remove) {
    selectors.push_back(parse_selector(text));
    factors.push_back(0);
  }
  if (selectors.size() > kMostSelectors)
    throw_error<InvalidArgument>(kWhere, "there are {} selectors; {} are possible", selectors.size(), kMostSelectors);
  Change change;
  for (const std::string& text : question.overlap) {
    const auto what = std::ranges::find(kBesideNames, text);
    if (what == kBesideNames.end())
      throw_error<InvalidArgument>(kWhere, "'{}' cannot be overlapped; what can is {}", text, fmt::join(kBesideNames, ", "));
    change.beside[static_cast<std::size_t>(what - kBesideNames.begin())] = true;
  }

  const Phases phases(analysis);
  const Ledger ledger(analysis, phases);
  Matcher matcher(analysis, phases, std::move(selectors));
  const StepGraph graph(analysis, phases, ledger,
                        {.of_host = [&](const HostTime& time) { return matcher.of_host(time); },
                         .of_device = [&](const DeviceTime& time) { return matcher.of_device(time); }});
  if (const std::string problem = replay_problem(graph); !problem.empty()) throw_error(kWhere, "steps cannot be predicted: {}", problem);
  matcher.check_all_matched();
  for (std::size_t k = 0; k < kBesides; ++k) {
    if (change.beside[k] && !graph.has(static_cast<Beside>(k)))
      throw_error<InvalidArgument>(kWhere, "there are no {} in the steps of this recording that could be overlapped", kBesideNames[k]);
  }
  for (const Matcher::Mask mask : matcher.classes()) {
    double factor = 1;
    for (std::size_t k = 0; k < factors.size(); ++k)
      if ((mask >> k & 1) != 0) factor *= factors[k];
    change.factors.push_back(factor);
  }
  return {.step_ns = graph.step_ns(), .replayed_ns = replay(graph, {}), .predicted_ns = replay(graph, change), .steps = graph.steps()};
}

}  // namespace mindtorch::analyze

// The time of a graph is divided as the ledger divides it, so that a claim says which factor each part gets.
#include "mindtorch/analyze/replay/predictions.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "mindtorch/analyze/replay/replay.h"

namespace mindtorch::analyze {
namespace {

// Each cell of the host is a class of time. So is the work of one name and line on a device, in whatever cells it is, and the time of a
// cause that has no cell because the device was always busy meanwhile.
class CellClasses {
 public:
  CellClasses(const Analysis& analysis, const Phases& phases, const Ledger& ledger)
      : analysis_(analysis), phases_(phases), class_of_cell_(ledger.cells().size()) {
    // The first classes are those of causes without a cell.
    ns_.assign(kCauses, 0);
    cause_.resize(kCauses);
    name_.assign(kCauses, EventNames::kHidden);
    for (std::size_t k = 0; k < kCauses; ++k) cause_[k] = static_cast<Cause>(k);
    for (std::size_t k = 0; k < ledger.cells().size(); ++k) {
      const Cell& cell = ledger.cells()[k];
      const TimeClass of = class_id(cell);
      class_of_cell_[k] = of;
      ns_[of] += cell.ns;
    }
  }

  TimeClass of_host(const HostTime& time) const {
    const Segment& segment = time.segment;
    const Cell cell{.cause = segment.cause,
                    .place = segment.place,
                    .name = name_of(segment.event),
                    .is_between_steps = time.is_between_steps,
                    .is_usual = time.is_usual,
                    .is_glue = time.is_glue};
    return find(cell).value_or(static_cast<TimeClass>(segment.cause));
  }

  TimeClass of_device(const DeviceTime& time) const {
    const trace::Recording& recording = analysis_.recording();
    const PlaceId place = phases_.attribution().place_at(recording.track_of(time.launch), recording.events.start_ns[time.launch]);
    return find({.device = time.phase, .place = place, .name = name_of(time.work)}).value_or(kNoCell);
  }

  std::size_t size() const { return ns_.size(); }
  TimeClass of_cell(std::size_t cell) const { return class_of_cell_[cell]; }
  std::int64_t ns(TimeClass of) const { return ns_[of]; }
  bool is_on_device(TimeClass of) const { return cause_[of] == std::nullopt; }
  Cause cause(TimeClass of) const { return cause_[of].value_or(Cause::kUnknown); }
  EventNames::Key name(TimeClass of) const { return name_[of]; }

 private:
  // Work on a device that no cell has, because other work hid it: no change is about it.
  static constexpr TimeClass kNoCell = 0xFFFFFFFF;

  EventNames::Key name_of(EventIndex event) const {
    const trace::Recording& recording = analysis_.recording();
    const bool is_named = event != kNoEvent && recording.events.kind[event] != trace::EventKind::kPythonFunction;
    return is_named ? analysis_.names().key(recording.events.name[event]) : EventNames::kHidden;
  }

  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return static_cast<std::size_t>((key.first * 0x9E3779B97F4A7C15ULL) ^ (key.second * 0xC2B2AE3D27D4EB4FULL));
    }
  };
  static Key key_of(const Cell& cell) {
    const std::uint64_t what = std::uint64_t{cell.place} << 32 | cell.name;
    if (cell.is_on_device()) return {0x100 + static_cast<std::uint64_t>(cell.device), what};
    return {static_cast<std::uint64_t>(cell.cause) << 3 | (cell.is_glue ? 4U : 0U) | (cell.is_between_steps ? 2U : 0U) |
                (cell.is_usual ? 1U : 0U),
            what};
  }

  std::optional<TimeClass> find(const Cell& cell) const {
    const auto found = ids_.find(key_of(cell));
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  TimeClass class_id(const Cell& cell) {
    const auto [at, is_new] = ids_.try_emplace(key_of(cell), static_cast<TimeClass>(ns_.size()));
    if (is_new) {
      ns_.push_back(0);
      cause_.push_back(cell.is_on_device() ? std::nullopt : std::optional(cell.cause));
      name_.push_back(cell.name);
    }
    return at->second;
  }

  const Analysis& analysis_;
  const Phases& phases_;
  std::unordered_map<Key, TimeClass, Hash> ids_;
  std::vector<TimeClass> class_of_cell_;
  // By class.
  std::vector<std::int64_t> ns_;
  std::vector<std::optional<Cause>> cause_;  // none: on a device
  std::vector<EventNames::Key> name_;
};

// The time that recording added, as a share of the time without it, where `mtprof run` measured it; else 0.
double recording_cost(const trace::Recording& recording) {
  const auto told = recording.metadata.find("mtprof_run");
  if (told == recording.metadata.end()) return 0;
  constexpr std::string_view kKey = "\"cost_share\":";
  const std::size_t at = told->second.find(kKey);
  if (at == std::string::npos) return 0;
  const double cost = std::strtod(told->second.c_str() + at + kKey.size(), nullptr);
  return cost > 0 && cost < 100 ? cost : 0;
}

class Predictor {
 public:
  Predictor(const Analysis& analysis, const Phases& phases, const Ledger& ledger)
      : analysis_(analysis),
        phases_(phases),
        ledger_(ledger),
        classes_(analysis, phases, ledger),
        seen_(classes_.size()),
        graph_(analysis, phases, ledger,
               {.of_host = [this](const HostTime& time) { return see(time); },
                .of_device = [this](const DeviceTime& time) { return classes_.of_device(time); }}),
        unchanged_(unchanged()) {}

  const StepGraph& graph() const { return graph_; }
  const Change& base() const { return unchanged_; }

  void apply(const ClaimedTime& claimed, Change& change) {
    using Effect = Remedy::Effect;
    const Remedy& remedy = claimed.remedy;
    if (remedy.effect == Effect::kNone) return;
    if (remedy.effect == Effect::kCopyBeside) change.beside[static_cast<std::size_t>(Beside::kCopies)] = true;
    if (remedy.effect == Effect::kWithoutWait) {
      for (TimeClass of = 0; of < classes_.size(); ++of)
        if (!classes_.is_on_device(of) && classes_.cause(of) == Cause::kDeviceWait) change.factors[of] = 0;
    }
    if (remedy.effect == Effect::kCopyBeside || remedy.effect == Effect::kWithoutWait) return;
    std::map<TimeClass, std::int64_t> claimed_ns;
    for (const Claim::Part& part : claimed.claim.parts) claimed_ns[classes_.of_cell(part.cell)] += part.ns;
    for (const auto& [of, ns] : claimed_ns) {
      const double share = std::min(1.0, static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(1, classes_.ns(of))));
      const double left = remedy.effect == Effect::kRemove ? 0.0 : remedy.effect == Effect::kBatch ? left_when_batched(of) : remedy.factor;
      // Findings claim different parts of a class: what they take off adds up.
      const double whole = unchanged_.factors[of];
      change.factors[of] = std::max(0.0, change.factors[of] - whole * share * (1 - left));
      if (remedy.effect == Effect::kBeside) change.is_beside[of] = true;
    }
  }

 private:
  // Time and calls of a class on the host.
  struct Seen {
    std::int64_t ns = 0, calls = 0;
  };

  TimeClass see(const HostTime& time) {
    const TimeClass of = classes_.of_host(time);
    const Segment& segment = time.segment;
    const trace::EventColumns& events = analysis_.recording().events;
    seen_[of].ns += segment.duration_ns();
    const bool is_call = segment.event != kNoEvent && events.start_ns[segment.event] == segment.start_ns &&
                         events.kind[segment.event] != trace::EventKind::kPythonFunction;
    seen_[of].calls += is_call ? 1 : 0;
    return of;
  }

  // Without the profiler's own cost: what it recorded as such, and what `mtprof run` measured, which each call of an op has an equal part
  // of.
  Change unchanged() const {
    Change change{.factors = std::vector<double>(classes_.size(), 1.0), .is_beside = std::vector<bool>(classes_.size(), false)};
    Seen all;
    for (const Seen& seen : seen_) all.ns += seen.ns, all.calls += seen.calls;
    const double cost = recording_cost(analysis_.recording());
    const double per_call = all.calls == 0 ? 0 : static_cast<double>(all.ns) * cost / (1 + cost) / static_cast<double>(all.calls);
    for (TimeClass of = 0; of < classes_.size(); ++of) {
      if (classes_.is_on_device(of)) continue;
      const Seen& seen = seen_[of];
      if (seen.ns > 0) change.factors[of] = std::max(0.0, 1 - per_call * static_cast<double>(seen.calls) / static_cast<double>(seen.ns));
      if (classes_.cause(of) == Cause::kOverhead) change.factors[of] = 0;
    }
    return change;
  }

  // Of the time of an op that is called often: a call costs at least what the fastest ones take, and that is saved for all but one of a
  // step. The time of what is called once is that of the loop around the calls, and goes.
  double left_when_batched(TimeClass of) {
    const EventNames::Key name = classes_.name(of);
    if (name == EventNames::kHidden) return 0;
    const auto [at, is_new] = left_of_name_.try_emplace({name, classes_.cause(of)}, 0.0);
    if (!is_new) return at->second;
    const trace::EventColumns& events = analysis_.recording().events;
    std::vector<std::int64_t> times;
    for (EventIndex i = 0; i < events.size(); ++i) {
      if (analysis_.names().key(events.name[i]) == name && analysis_.tree().is_node(i) && phases_.of(i) == classes_.cause(of) &&
          ledger_.is_judged(events.start_ns[i]))
        times.push_back(std::max<std::int64_t>(0, analysis_.tree().self_ns(i)));
    }
    if (times.size() <= ledger_.steps()) return at->second;
    const std::int64_t all = std::accumulate(times.begin(), times.end(), std::int64_t{0});
    const auto fast = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 20);
    std::ranges::nth_element(times, fast);
    const double saved = static_cast<double>(*fast) * static_cast<double>(times.size() - ledger_.steps());
    at->second = all == 0 ? 0 : std::clamp(1 - saved / static_cast<double>(all), 0.0, 1.0);
    return at->second;
  }

  const Analysis& analysis_;
  const Phases& phases_;
  const Ledger& ledger_;
  const CellClasses classes_;
  std::vector<Seen> seen_;  // by class; filled while the graph is made
  const StepGraph graph_;
  const Change unchanged_;
  std::map<std::pair<EventNames::Key, Cause>, double> left_of_name_;
};

}  // namespace

StepPrediction predict(const Analysis& analysis, const Phases& phases, const Ledger& ledger, std::vector<Finding>& findings,
                       std::vector<ClaimedTime> claims) {
  StepPrediction prediction;
  if (std::ranges::none_of(findings, [](const Finding& finding) { return finding.cost_ns > 0; })) return prediction;
  Predictor predictor(analysis, phases, ledger);
  prediction.problem = replay_problem(predictor.graph());
  if (!prediction.problem.empty()) return prediction;
  prediction.step_ns = predictor.graph().step_ns();
  prediction.replayed_ns = replay(predictor.graph(), {});
  prediction.base_ns = replay(predictor.graph(), predictor.base());

  for (std::size_t k = 0; k < findings.size(); ++k) {
    if (findings[k].cost_ns <= 0) continue;
    Change change = predictor.base();
    predictor.apply(claims[k], change);
    findings[k].predicted_step_ns = replay(predictor.graph(), change);
    findings[k].predicts_at_best = claims[k].remedy.is_at_best;
  }
  // By gain. Findings without a time come last.
  const auto gain = [&](std::size_t k) { return prediction.base_ns - findings[k].predicted_step_ns.value_or(prediction.base_ns); };
  std::vector<std::size_t> order(findings.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t k) { return std::pair(gain(k), findings[k].cost_ns); });
  std::vector<Finding> sorted;
  Change change = predictor.base();
  for (const std::size_t k : order) {
    if (findings[k].predicted_step_ns) {
      predictor.apply(claims[k], change);
      prediction.combined_ns.push_back(replay(predictor.graph(), change));
    }
    sorted.push_back(std::move(findings[k]));
  }
  findings = std::move(sorted);
  return prediction;
}

}  // namespace mindtorch::analyze

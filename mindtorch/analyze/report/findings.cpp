// The table of rules, and what all rules share.
#include "mindtorch/analyze/report/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "mindtorch/analyze/report/rules.h"
#include "mindtorch/analyze/units.h"

namespace mindtorch::analyze {
namespace {

constexpr Remedy kNothing{.effect = Remedy::Effect::kNone};
constexpr Remedy kGone{};
constexpr Remedy kAtBest{.is_at_best = true};
constexpr Remedy kHalf{.effect = Remedy::Effect::kScale, .factor = 0.5};
constexpr Remedy kQuarter{.effect = Remedy::Effect::kScale, .factor = 0.25};
constexpr Remedy kBatch{.effect = Remedy::Effect::kBatch};
constexpr Remedy kBeside{.effect = Remedy::Effect::kBeside};
constexpr Remedy kLoadBeside{.effect = Remedy::Effect::kBeside, .factor = 0.25};  // by the four workers that the remedy names
constexpr Remedy kCopyBeside{.effect = Remedy::Effect::kCopyBeside};
constexpr Remedy kWithoutWait{.effect = Remedy::Effect::kWithoutWait};

// In the order in which they claim time: what is certain and particular first, what is left over last.
constexpr auto kRules = std::to_array<Rule>({
    {"garbage_collection", garbage_collection, kGone},
    {"waiting_for_gil", waiting_for_gil, kGone},
    {"compiling_in_steps", compiling_in_steps, kGone},
    {"checkpoints", checkpoints, kBeside},
    {"waiting_for_data", waiting_for_data, kLoadBeside},
    {"logging", logging, kGone},
    {"sleeping", sleeping, kGone},
    {"exposed_collectives", exposed_collectives, kAtBest},
    {"waiting_for_thread", waiting_for_thread, kAtBest},
    {"waiting_for_lock", waiting_for_lock, kAtBest},
    {"files_and_network", files_and_network, kAtBest},
    {"not_running", not_running, kGone},
    {"anomaly_detection", anomaly_detection, kGone},
    {"element_accesses", element_accesses, kGone},
    {"deep_copies", deep_copies, kGone},
    {"dense_embedding_gradients", dense_embedding_gradients, kGone},
    {"math_attention", math_attention, kHalf},
    {"recomputation", recomputation, kGone},
    {"unused_graphs", unused_graphs, kAtBest},
    {"device_allocations", device_allocations, kGone},
    {"pageable_copies", pageable_copies, kCopyBeside},
    {"zeroed_gradients", zeroed_gradients, kGone},
    {"unneeded_copies", unneeded_copies, kGone},
    {"converted_layouts", converted_layouts, kGone},
    {"float64_ops", float64_ops, kHalf},
    {"float32_matmuls", float32_matmuls, kQuarter},
    {"unfused_optimizer", unfused_optimizer, kBatch},
    {"elementwise_chains", elementwise_chains, kQuarter},
    {"small_calls", small_calls, kAtBest},
    {"slowing_steps", slowing_steps, kAtBest},
    {"slow_python", slow_python, kAtBest},
    {"slow_python", slow_python, kAtBest},  // of the function with most time, and then of the next one
    {"synchronising_calls", synchronising_calls, kWithoutWait},
    {"tiny_kernels", tiny_kernels, kAtBest},
    {"time_between_steps", time_between_steps, kAtBest},
    {"uneven_steps", uneven_steps, kAtBest},
    {"python_between_ops", python_between_ops, kAtBest},
    {"idle_device", idle_device, kAtBest},
    {"growing_memory", growing_memory, kNothing},
});

}  // namespace

std::string function_of(const Place& place) {
  if (place.line.empty()) return place.function;
  const std::size_t end = place.line.rfind(':');
  return place.line.substr(0, place.line.rfind(':', end - 1)) + ":" + place.function;
}

std::string time_text(std::int64_t ns) { return format_time(static_cast<double>(ns) / 1000.0); }
std::string percent_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string Judge::passes_in(const Claim& claim, std::string_view where) const {
  return fmt::format(
      "{} of each {} ({}) pass in {}{}", time_text(ledger.per_step(claim.ns)), unit(), percent_text(ledger.share(claim.ns)), where,
      phases.has_device_work() && !claim.parts.empty() && !ledger.cells()[claim.parts[0].cell].is_on_device() ? " while the device idles"
                                                                                                              : "");
}

std::vector<std::string> Judge::largest(const Claim& claim, const std::function<std::string(const Cell&)>& text, std::size_t limit) const {
  std::map<std::string, std::int64_t> times;
  for (const Claim::Part& part : claim.parts) times[text(ledger.cells()[part.cell])] += part.ns;
  times.erase("");
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [of, time] : times) sorted.emplace_back(time, of);
  std::ranges::sort(sorted, [](const auto& a, const auto& b) { return std::pair(b.first, a.second) < std::pair(a.first, b.second); });
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < std::min(limit, sorted.size()); ++k) texts.push_back(std::move(sorted[k].second));
  return texts;
}

Finding Judge::finding(std::string_view id, std::string title, const Claim& claim) const {
  ledger.take(claim);
  last_claim = claim;
  return {.id = id,
          .title = std::move(title),
          .cost_ns = ledger.per_step(claim.ns),
          .share = ledger.share(claim.ns),
          .ops = largest(
              claim, [&](const Cell& cell) { return std::string(name(cell)); }, 4),
          .lines = lines_of_claim(claim, 3)};
}

std::vector<std::string> Judge::lines_in(const std::vector<EventIndex>& events, std::size_t limit) const {
  const trace::Recording& recording = analysis.recording();
  std::map<PlaceId, std::int64_t> times;
  for (const EventIndex event : events) {
    const std::int64_t start = recording.events.start_ns[event], end = recording.events.end_ns(event);
    const std::span<const Segment> segments = attribution.of(recording.track_of(event));
    auto at = std::ranges::upper_bound(segments, start, {}, &Segment::end_ns);
    for (; at != segments.end() && at->start_ns < end; ++at) {
      if (at->is_seen) times[at->place] += std::min(end, at->end_ns) - std::max(start, at->start_ns);
    }
  }
  std::map<std::string, std::int64_t> of_function, of_line;
  for (const auto& [id, time] : times) of_function[function_of(attribution.place(id))] += time;
  std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, std::string>> sorted;
  for (const auto& [id, time] : times) of_line[attribution.place(id).line] += time;
  for (const auto& [id, time] : times) {
    const Place& place = attribution.place(id);
    if (place.line.empty() || of_line[place.line] == 0) continue;
    sorted.push_back({{of_function[function_of(place)], std::exchange(of_line[place.line], 0)}, place.line});
  }
  std::ranges::stable_sort(sorted, std::ranges::greater{}, [](const auto& entry) { return entry.first; });
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < std::min(limit, sorted.size()); ++k) lines.push_back(std::move(sorted[k].second));
  return lines;
}

// Where some of the time was seen, what was only guessed says nothing.
std::vector<std::string> Judge::lines_of_claim(const Claim& whole, std::size_t limit) const {
  const auto line_of = [&](const Cell& cell) { return place(cell).line; };
  Claim claim;
  for (const Claim::Part& part : whole.parts) {
    const Cell& cell = ledger.cells()[part.cell];
    const auto seen =
        static_cast<double>(part.ns) * static_cast<double>(cell.seen_ns) / static_cast<double>(std::max<std::int64_t>(1, cell.ns));
    if (cell.seen_ns > 0) claim.parts.push_back({part.cell, static_cast<std::int64_t>(seen)});
  }
  if (std::ranges::all_of(claim.parts, [&](const Claim::Part& part) { return place(ledger.cells()[part.cell]).line.empty(); }))
    claim = whole;
  std::vector<std::string> lines;
  for (const std::string& function : largest(
           claim, [&](const Cell& cell) { return function_of(place(cell)); }, limit)) {
    Claim of_function;
    std::ranges::copy_if(claim.parts, std::back_inserter(of_function.parts),
                         [&](const Claim::Part& part) { return function_of(place(ledger.cells()[part.cell])) == function; });
    for (std::string& line : largest(of_function, line_of, limit)) {
      if (lines.size() < limit) lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::optional<Finding> Judge::worth(std::string_view id, std::string title, const IsMeant& is_meant, std::string_view where) const {
  const Claim claim = free(is_meant);
  if (!is_worth_telling(claim)) return std::nullopt;
  Finding found = finding(id, std::move(title), claim);
  found.evidence = {passes_in(claim, where)};
  return found;
}

double Judge::count_per_step(const std::function<bool(EventIndex)>& is_meant) const {
  const trace::EventColumns& events = analysis.recording().events;
  std::int64_t count = 0;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (is_meant(i) && ledger.is_judged(events.start_ns[i])) ++count;
  }
  return static_cast<double>(count) / static_cast<double>(ledger.steps());
}

std::vector<std::string_view> rule_ids() {
  std::vector<std::string_view> ids;
  for (const Rule& rule : kRules) {
    if (std::ranges::find(ids, rule.id) == ids.end()) ids.push_back(rule.id);
  }
  return ids;
}

std::vector<Finding> find_findings(const Analysis& analysis, const Phases& phases, const WorkTables& tables, Ledger& ledger,
                                   StepPrediction* prediction) {
  if (analysis.recording().tracks.empty()) return {};  // nothing was recorded: there is no main thread to judge
  const Judge judge(analysis, phases, tables, ledger);
  std::vector<Finding> findings;
  std::vector<ClaimedTime> claims;
  for (const Rule& rule : kRules) {
    judge.last_claim = {};
    auto finding = rule.find(judge);
    if (!finding) continue;
    findings.push_back(std::move(*finding));
    claims.push_back({std::move(judge.last_claim), rule.remedy});
  }
  if (prediction != nullptr) *prediction = predict(analysis, phases, ledger, findings, std::move(claims));
  if (prediction == nullptr || !prediction->problem.empty()) std::ranges::stable_sort(findings, std::ranges::greater{}, &Finding::cost_ns);
  return findings;
}

std::vector<Finding> find_findings(const Analysis& analysis, const Phases& phases, const WorkTables& tables) {
  Ledger ledger(analysis, phases);
  return find_findings(analysis, phases, tables, ledger);
}

}  // namespace mindtorch::analyze

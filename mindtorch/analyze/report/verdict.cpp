// The verdict is about the largest finding, unless more is unknown than it costs.
#include "mindtorch/analyze/report/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mindtorch/analyze/report/rules.h"
#include "mindtorch/base/text.h"

namespace mindtorch::analyze {
namespace {

constexpr double kEnoughExplained = 0.8;
constexpr double kBadShare = 0.3;
constexpr std::size_t kFewSteps = 3;
constexpr double kTooMuchMissing = 0.75;  // of the processor time that the program wanted: little of it was seen

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

// Whether a file lacks only its end, which the reader counts as one loss: the process was killed, or left without ending Python.
bool lacks_only_its_end(const trace::Loss& loss) {
  return loss.reason == trace::LossReason::kDamagedFile && loss.count == 1 && loss.detail.starts_with("the recording was not finished");
}

// What to know before anything else is believed; empty if the recording is whole.
std::string doubts(const trace::Recording& recording, const Phases& phases) {
  std::uint64_t lost = 0;
  for (const trace::Loss& loss : recording.losses) {
    if (lacks_only_its_end(loss)) return "The process did not end by itself, so its last moment may be missing. ";
    if (loss.reason == trace::LossReason::kDamagedFile) return fmt::format("The recording is damaged: {}. ", loss.detail);
    if (loss.reason == trace::LossReason::kBudget || loss.reason == trace::LossReason::kSpillFailed ||
        loss.reason == trace::LossReason::kDeviceDropped || loss.reason == trace::LossReason::kThreadExit)
      lost += loss.count;
  }
  if (lost > 0) return fmt::format("{} events were lost, so times are too small. ", lost);
  if (phases.has_steps() && phases.steps().size() < kFewSteps)
    return fmt::format("Only {} {} {} recorded. ", phases.steps().size(), phases.steps().size() == 1 ? "step" : "steps",
                       phases.steps().size() == 1 ? "was" : "were");
  return {};
}

// "52 % forward, 30 % backward and 10 % optimizer"
std::string largest_causes(const Ledger& ledger) {
  std::array<std::int64_t, kCauses + kDevicePhases> times{};
  for (const Cell& cell : ledger.cells())
    times[cell.is_on_device() ? kCauses + static_cast<std::size_t>(cell.device) : static_cast<std::size_t>(cell.cause)] += cell.ns;
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (ledger.share(times[k]) >= 0.03) order.push_back(k);
  }
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t k) { return times[k]; });
  std::string text;
  for (std::size_t k = 0; k < std::min<std::size_t>(3, order.size()); ++k) {
    const std::string_view name =
        order[k] < kCauses ? cause_name(static_cast<Cause>(order[k])) : device_phase_name(static_cast<DevicePhase>(order[k] - kCauses));
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", percent_text(ledger.share(times[order[k]])), name);
  }
  return text;
}

// What a reader must know of the machine; empty if there is nothing.
std::string busy_machine(const trace::Recording& recording) {
  const Processors processors = processors_of(recording);
  if (!processors.are_busy()) return {};
  return fmt::format("; other programs had {} of the processors{}", percent_text(processors.others),
                     processors.are_taken_by_others() ? ", and the time without one is left out" : " meanwhile");
}

std::string how_to_see(const Phases& phases, const trace::Recording& recording) {
  if (!phases.attribution().sees_python()) return "`mtprof run` looks at the program's Python threads while it records";
  if (!recording.options.stacks) return "`mtprof run --stack` records the line of each op";
  return {};
}

}  // namespace

std::string_view verdict_level_name(Judgement::Level level) {
  switch (level) {
    case Judgement::Level::kGood: return "good";
    case Judgement::Level::kWarning: return "warn";
    case Judgement::Level::kBad: return "bad";
    case Judgement::Level::kUnknown: return "unknown";
  }
  return "unknown";
}

std::string short_line(std::string_view line) {
  const std::size_t function = line.rfind(':');
  if (function == std::string_view::npos) return std::string(line);
  std::string_view place = line.substr(0, function);
  if (const std::size_t slash = place.rfind('/'); slash != std::string_view::npos) place.remove_prefix(slash + 1);
  return fmt::format("{} in {}", place, line.substr(function + 1));
}

Judgement find_verdict(const Analysis& analysis, const Phases& phases, const Ledger& ledger, const std::vector<Finding>& findings) {
  const trace::Recording& recording = analysis.recording();
  Judgement verdict;
  const std::string first = doubts(recording, phases);
  if (ledger.total_ns() == 0 || (recording.events.size() == 0 && recording.samples.size() == 0)) {
    verdict.text = first + "Nothing was recorded.";
    verdict.unknown = "everything: the recording has no events";
    verdict.next = "`mtprof info` says what the file holds, and what was lost";
    return verdict;
  }
  std::int64_t unknown = 0;
  for (const Cell& cell : ledger.cells()) unknown += !cell.is_on_device() && cell.cause == Cause::kUnknown ? cell.ns : 0;
  const double unknown_share = ledger.share(unknown);
  verdict.explained_share = 1 - unknown_share;
  const std::string_view unit = phases.has_steps() ? "step" : "recording";
  const bool is_enough = verdict.explained_share >= kEnoughExplained;
  if (!is_enough) {
    verdict.unknown = fmt::format("{} of {} of each {} ({}) pass outside of ops, and nothing was recorded there",
                                  time_text(ledger.per_step(unknown)), time_text(ledger.mean_ns()), unit, percent_text(unknown_share));
    verdict.next = how_to_see(phases, recording);
  }
  // The largest of what is known: that most time passes outside of ops says no more than that it is unknown.
  const auto known =
      std::ranges::find_if(findings, [&](const Finding& finding) { return is_enough || finding.id != "python_between_ops"; });
  if (known != findings.end() && (is_enough || known->share >= unknown_share)) {
    const Finding& top = *known;
    verdict.level = top.share >= kBadShare ? Judgement::Level::kBad : Judgement::Level::kWarning;
    verdict.text = first + top.title;
    if (top.cost_ns > 0)
      verdict.text += fmt::format(": {} of {} per {} ({})", time_text(top.cost_ns), time_text(ledger.per_step(ledger.total_ns())), unit,
                                  percent_text(top.share));
    if (!top.lines.empty()) verdict.text += ", " + short_line(top.lines[0]);
    if (top.lines.empty() && top.id == "growing_memory") {
      verdict.next = "`mtprof run --memory --stack` records the lines that allocate it";
      verdict.text += "; " + verdict.next;
    }
    verdict.text += busy_machine(recording);
    if (top.lines.empty() && verdict.next.empty()) verdict.next = how_to_see(phases, recording);
    return verdict;
  }
  if (!is_enough) {
    verdict.level = Judgement::Level::kUnknown;
    verdict.text = first + capitalised(verdict.unknown);
    if (known != findings.end()) verdict.text += fmt::format("; known: {} ({})", known->title, time_text(known->cost_ns));
    verdict.text += busy_machine(recording);
    return verdict;
  }
  const Processors processors = processors_of(recording);
  // A wait that no rule would call the program's own is no all-clear either.
  for (const Cause wait : {Cause::kLoading, Cause::kCollective}) {
    std::int64_t waited = 0;
    for (const Cell& cell : ledger.cells()) waited += !cell.is_on_device() && cell.cause == wait ? cell.free_ns() : 0;
    if (!processors.are_busy() || ledger.share(waited) < kBadShare) continue;
    verdict.unknown = fmt::format("{} of a {} are {}, and other programs, which had {} of the processors, may be the reason",
                                  percent_text(ledger.share(waited)), unit, cause_name(wait), percent_text(processors.others));
    verdict.next = "record it again when the machine is less busy";
    verdict.text = fmt::format("{}{}: {}", first, verdict.unknown, verdict.next);
    return verdict;
  }
  if (processors.are_taken_by_others() && processors.missing.value_or(0) >= kTooMuchMissing) {
    verdict.unknown =
        fmt::format("the program was ready to run and waited for a processor for {} of the time, while other programs had {} of them",
                    percent_text(*processors.missing), percent_text(processors.others));
    verdict.next = "record it again when the machine is less busy";
    verdict.text = fmt::format("{}{}: {}", first, capitalised(verdict.unknown), verdict.next);
    return verdict;
  }
  verdict.level = first.empty() ? Judgement::Level::kGood : Judgement::Level::kUnknown;
  verdict.text = fmt::format("{}Nothing stands out: {} of a {} is explained ({})", first, percent_text(verdict.explained_share), unit,
                             largest_causes(ledger)) +
                 busy_machine(recording);
  if (!recording.options.shapes)
    verdict.next = "`mtprof run --shapes` records types and shapes, which would show float64 and needless copies";
  return verdict;
}

}  // namespace mindtorch::analyze

// The rules that compare steps with each other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mindtorch/analyze/report/rules.h"
#include "mindtorch/analyze/units.h"
#include "mindtorch/base/statistics.h"

namespace mindtorch::analyze {
namespace {

std::string what_grew(const StepPhases& step, const StepKind& usual) {
  std::size_t most = 0;
  std::int64_t growth = 0;
  for (std::size_t cause = 0; cause < kCauses; ++cause) {
    const std::int64_t more = step.host[cause] - usual.host[cause];
    if (more > growth) growth = more, most = cause;
  }
  return fmt::format("step {} took {}; {} more than usual in: {}", step.number, time_text(step.duration_ns), time_text(growth),
                     cause_name(static_cast<Cause>(most)));
}

// The lines that allocated, in the steps from `start_ns` on, what was not freed before `end_ns`. Most bytes first.
std::vector<std::string> lines_that_keep(const Judge& judge, trace::Device device, std::int64_t start_ns, std::int64_t end_ns) {
  struct Block {
    std::int64_t bytes;
    PlaceId place;
  };
  const trace::MemoryColumns& memory = judge.analysis.recording().memory;
  std::unordered_map<std::uint64_t, Block> held;
  for (std::size_t row = 0; row < memory.size() && memory.time_ns[row] < end_ns; ++row) {
    if (memory.device[row] != device) continue;
    if (memory.bytes[row] < 0) held.erase(memory.address[row]);
    if (memory.bytes[row] > 0 && memory.time_ns[row] >= start_ns)
      held[memory.address[row]] = {memory.bytes[row], judge.attribution.place_at(memory.track[row], memory.time_ns[row])};
  }
  std::map<std::string, std::int64_t> by_line;
  for (const auto& [address, block] : held) by_line[judge.attribution.place(block.place).line] += block.bytes;
  by_line.erase("");
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [line, bytes] : by_line) sorted.emplace_back(bytes, line);
  std::ranges::sort(sorted, std::ranges::greater{});
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < std::min<std::size_t>(3, sorted.size()); ++k) lines.push_back(sorted[k].second);
  return lines;
}

// How much values grow from one to the next, if they do so nearly always.
struct Growth {
  std::size_t first = 0, grown = 0, count = 0;
  std::int64_t bytes = 0;
  std::int64_t per_step() const { return count == 0 ? 0 : bytes / static_cast<std::int64_t>(count); }
  bool is_steady() const { return 10 * grown >= 9 * count; }
};

Growth growth_of(const std::vector<std::int64_t>& at_end) {
  if (at_end.size() < Thresholds::kStepsToCompare) return {};
  // The first steps fill caches and make the state of the optimizer.
  Growth growth{.first = at_end.size() / 4};
  for (std::size_t k = growth.first + 1; k < at_end.size(); ++k) growth.grown += at_end[k] > at_end[k - 1] ? 1 : 0;
  growth.count = at_end.size() - growth.first - 1;
  growth.bytes = at_end.back() - at_end[growth.first];
  return growth;
}

constexpr const char* kKeptRemedy =
    "Something keeps tensors of each step: a list of losses (append loss.item() or loss.detach()), a cache without a bound, or a graph "
    "that is kept (retain_graph=True). The memory view names the ops that hold it.";

// Without allocations: the memory of the process, which `mtprof run` looks at when a step ends. "[1024, 2048]"
std::optional<Finding> growing_process(const Judge& judge) {
  const auto& metadata = judge.analysis.recording().metadata;
  const auto told = metadata.find("resident_bytes");
  if (told == metadata.end()) return std::nullopt;
  std::vector<std::int64_t> at_end;
  for (const char* text = told->second.c_str(); *text != '\0';) {
    char* end = nullptr;
    const std::int64_t bytes = std::strtoll(text, &end, 10);
    if (end != text) at_end.push_back(bytes);
    text = end != text ? end : text + 1;
  }
  const Growth growth = growth_of(at_end);
  const bool is_long_enough = growth.count >= 2 * Thresholds::kStepsToCompare;  // allocators and caches take a while to settle
  if (!is_long_enough || growth.per_step() < Thresholds::kLeakOfProcess || !growth.is_steady()) return std::nullopt;
  Finding found{.id = "growing_memory",
                .title = fmt::format("Memory grows by {} in each step", format_memory(growth.per_step())),
                .bytes_per_step = growth.per_step()};
  found.evidence = {
      fmt::format("the memory of the process grew by {}, in {} of {} steps", format_memory(growth.bytes), growth.grown, growth.count)};
  found.remedy = fmt::format("{} `mtprof run --memory --stack` records the lines that allocate it.", kKeptRemedy);
  return found;
}

}  // namespace

std::optional<Finding> uneven_steps(const Judge& judge) {
  const std::vector<StepPhases>& steps = judge.phases.steps();
  if (!judge.phases.has_steps() || steps.size() < Thresholds::kStepsToCompare + 1) return std::nullopt;
  if (judge.processors.are_busy()) return std::nullopt;  // any step may have to wait for a processor, or for a process that does
  const StepKind& usual = judge.phases.kinds().front();
  std::vector<const StepPhases*> slow;
  std::int64_t lost = 0;
  for (std::size_t k = 1; k < steps.size(); ++k) {
    const StepPhases& step = steps[k];
    if (static_cast<double>(step.duration_ns) < Thresholds::kSlowStep * static_cast<double>(usual.mean_ns) || step.kind == 0) continue;
    lost += step.duration_ns - usual.mean_ns;
    slow.push_back(&step);
  }
  // If half of the steps are slow, that is how the program is, and not an exception.
  if (slow.empty() || slow.size() * 3 > steps.size()) return std::nullopt;
  const Claim claim = judge.free([](const Cell& cell) { return !cell.is_usual; }, lost);
  if (!judge.is_worth_telling(claim)) return std::nullopt;
  std::ranges::stable_sort(slow, std::ranges::greater{}, &StepPhases::duration_ns);
  Finding found = judge.finding("uneven_steps", "Some steps are much slower than the others", claim);
  found.evidence = {
      fmt::format("{} of {} steps take more than 1.5 times the usual {}", slow.size(), steps.size() - 1, time_text(usual.mean_ns))};
  for (std::size_t k = 0; k < std::min<std::size_t>(3, slow.size()); ++k) found.evidence.push_back(what_grew(*slow[k], usual));
  found.remedy =
      "Look at the slow steps in the timeline. Common causes are evaluation, checkpoints and logging inside of the loop, a data loader "
      "that runs dry, garbage collection, and shapes that are compiled anew.";
  return found;
}

// Something is walked, copied or searched in each step that grows: a history, a cache, a text that is written word by word.
std::optional<Finding> slowing_steps(const Judge& judge) {
  const std::vector<StepPhases>& steps = judge.phases.steps();
  constexpr std::size_t kParts = 4;
  const bool is_comparable =
      judge.phases.has_steps() && steps.size() > 2 * kParts * kParts && judge.phases.origin() != Iterations::Origin::kEngine;
  if (!is_comparable || judge.processors.are_busy()) return std::nullopt;
  std::array<std::int64_t, kParts> usual{};
  std::array<std::array<std::int64_t, kCauses>, kParts> causes{};
  const std::size_t length = (steps.size() - 1) / kParts;
  for (std::size_t part = 0; part < kParts; ++part) {
    std::vector<std::int64_t> durations;
    for (std::size_t k = 1 + part * length; k < 1 + (part + 1) * length; ++k) {
      durations.push_back(steps[k].duration_ns);
      for (std::size_t cause = 0; cause < kCauses; ++cause) causes[part][cause] += steps[k].host[cause];
    }
    usual[part] = median_of(durations);
    if (part > 0 && static_cast<double>(usual[part]) < Thresholds::kGrowsInAPart * static_cast<double>(usual[part - 1]))
      return std::nullopt;
  }
  if (static_cast<double>(usual.back()) < Thresholds::kSlowStep * static_cast<double>(usual.front())) return std::nullopt;
  std::size_t most = 0;
  const auto growth = [&](std::size_t cause) { return causes.back()[cause] - causes.front()[cause]; };
  for (std::size_t cause = 0; cause < kCauses; ++cause) most = growth(cause) > growth(most) ? cause : most;
  const auto cost = (judge.ledger.mean_ns() - usual.front()) * static_cast<std::int64_t>(judge.ledger.steps());
  const Claim claim = judge.free([&](const Cell& cell) { return !cell.is_on_device() && cell.cause == static_cast<Cause>(most); },
                                 std::max<std::int64_t>(0, cost));
  if (!judge.is_worth_telling(claim)) return std::nullopt;
  Finding found = judge.finding("slowing_steps", "Steps take longer and longer", claim);
  found.evidence = {fmt::format("a step takes {} in the first quarter, {} in the last one; most of what is added is: {}",
                                time_text(usual.front()), time_text(usual.back()), cause_name(static_cast<Cause>(most)))};
  found.remedy =
      "Something grows that each step goes through: a list, a cache, or the input itself. Keep running sums instead of histories, bound "
      "caches, "
      "and do not compute again what was computed for earlier parts of the input (keys and values of attention).";
  return found;
}

std::optional<Finding> time_between_steps(const Judge& judge) {
  const Claim claim = judge.free([](const Cell& cell) { return cell.is_between_steps; });
  if (!judge.phases.has_steps() || !judge.is_worth_telling(claim)) return std::nullopt;
  Finding found = judge.finding("time_between_steps", "Time passes between the steps", claim);
  found.evidence = {fmt::format("{} pass between the end of a step and the start of the next one, on average", time_text(found.cost_ns))};
  found.remedy = "Move what happens between steps (logging, checkpoints, loading) to another thread, or do it less often.";
  return found;
}

// Memory that is still allocated at the end of a step is compared with that at the end of the step before.
std::optional<Finding> growing_memory(const Judge& judge) {
  const trace::Recording& recording = judge.analysis.recording();
  const std::vector<StepPhases>& steps = judge.phases.steps();
  if (!judge.phases.has_steps() || steps.size() < Thresholds::kStepsToCompare) return std::nullopt;
  if (recording.memory.size() == 0) return growing_process(judge);
  const trace::MemoryColumns& memory = recording.memory;
  std::vector<trace::Device> devices(memory.device.begin(), memory.device.end());
  std::ranges::sort(devices);
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  for (const trace::Device device : devices) {
    std::vector<std::int64_t> at_end;
    std::int64_t held = 0;
    std::size_t row = 0;
    for (const StepPhases& step : steps) {
      for (; row < memory.size() && memory.time_ns[row] < step.end_ns(); ++row) {
        if (memory.device[row] == device) held += memory.bytes[row];
      }
      at_end.push_back(held);
    }
    const Growth growth = growth_of(at_end);
    if (growth.per_step() < Thresholds::kLeakBytes || !growth.is_steady()) continue;
    Finding found{.id = "growing_memory",
                  .title = fmt::format("Memory grows by {} in each step", format_memory(growth.per_step())),
                  .lines = lines_that_keep(judge, device, steps[growth.first].end_ns(), steps.back().end_ns()),
                  .bytes_per_step = growth.per_step()};
    found.evidence = {fmt::format("from step {} to step {}, what is still allocated at the end grew by {} in {} of {} steps",
                                  steps[growth.first].number, steps.back().number, format_memory(growth.bytes), growth.grown,
                                  growth.count)};
    found.remedy = kKeptRemedy;
    return found;
  }
  return std::nullopt;
}

}  // namespace mindtorch::analyze

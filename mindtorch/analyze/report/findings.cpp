// The rules about the host, and what all rules share.
#include "mindtorch/analyze/report/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "mindtorch/analyze/report/code_tables.h"
#include "mindtorch/analyze/report/rules.h"
#include "mindtorch/analyze/units.h"

namespace mindtorch::analyze {

std::string time_text(std::int64_t ns) { return format_time(static_cast<double>(ns) / 1000.0); }
std::string share_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

Rules::Rules(const Analysis& analysis, const Phases& phases, const WorkTables& tables)
    : analysis_(analysis), phases_(phases), tables_(tables), steps_(phases.steps()) {
  // The first step of a program warms up caches and compiles: it says little about the others.
  if (steps_.size() > 3) steps_.erase(steps_.begin());
  std::vector<std::int64_t> durations;
  for (const StepPhases& step : steps_) durations.push_back(step.duration_ns);
  step_sum_ = std::accumulate(durations.begin(), durations.end(), std::int64_t{0});
  step_ns_ = std::max<std::int64_t>(1, median_of(durations));
}

std::vector<Finding> Rules::finish() {
  // idle_device() is about idleness that no rule before it explains.
  for (const auto rule :
       {&Rules::waiting_for_data, &Rules::synchronising_calls, &Rules::pageable_copies, &Rules::unfused_optimizer, &Rules::zeroed_gradients,
        &Rules::unneeded_copies, &Rules::float32_matmuls, &Rules::tiny_kernels, &Rules::device_allocations, &Rules::uneven_steps,
        &Rules::time_between_steps, &Rules::python_between_ops, &Rules::idle_device}) {
    if (auto finding = (this->*rule)()) findings_.push_back(std::move(*finding));
  }
  std::ranges::stable_sort(findings_, std::ranges::greater{}, &Finding::cost_ns);
  return std::move(findings_);
}

std::int64_t Rules::median_host(HostPhase phase) const {
  std::vector<std::int64_t> times;
  for (const StepPhases& step : steps_) times.push_back(step.host[static_cast<std::size_t>(phase)]);
  return median_of(times);
}

std::int64_t Rules::median_device(DevicePhase phase) const {
  std::vector<std::int64_t> times;
  for (const StepPhases& step : steps_) times.push_back(step.device[static_cast<std::size_t>(phase)]);
  return median_of(times);
}

std::vector<std::string> Rules::ops_of(HostPhase phase, std::size_t limit) const {
  std::vector<std::string> names;
  for (const OpRow& row : tables_.ops) {
    if (row.phase == phase && names.size() < limit) names.push_back(row.name);
  }
  return names;
}

Finding Rules::finding(std::string_view id, std::string title, std::int64_t cost) const {
  return {.id = id, .title = std::move(title), .cost_ns = cost, .share = share_of_step(cost)};
}

std::optional<Finding> Rules::phase_finding(std::string_view id, std::string title, HostPhase phase, std::string_view where,
                                            Listed listed) const {
  const std::int64_t time = median_host(phase);
  if (share_of_step(time) < kWorthTelling) return std::nullopt;
  Finding found = finding(id, std::move(title), time);
  found.evidence = {fmt::format("{} of each step ({}) pass in {}", time_text(time), share_text(found.share), where)};
  found.ops = ops_of(phase, listed.ops);
  found.lines = lines_of(analysis_, phases_, phase, "", listed.lines);
  return found;
}

std::optional<Finding> Rules::waiting_for_data() const {
  std::optional<Finding> found = phase_finding("waiting_for_data", "The loop waits for data", HostPhase::kData,
                                               "the data loader, on the thread that trains", Listed{.ops = 3, .lines = 3});
  if (!found) return std::nullopt;
  found->remedy =
      "Load and prepare batches in other processes: DataLoader(num_workers=4, persistent_workers=True), with pin_memory=True for a "
      "device. If workers are busy all the time, use more of them, or prepare the data once and store it.";
  return found;
}

std::optional<Finding> Rules::unfused_optimizer() const {
  std::int64_t ops = 0;
  bool is_fused = false;
  for (const OpRow& row : tables_.ops) {
    if (row.phase != HostPhase::kOptimizer || row.kind != "op") continue;
    ops += row.calls;
    is_fused |= contains(row.name, "_fused_");
  }
  const double ops_per_step = per_step(ops);
  if (is_fused || ops_per_step < 50) return std::nullopt;
  std::optional<Finding> found = phase_finding("unfused_optimizer", "The optimizer is not fused", HostPhase::kOptimizer,
                                               fmt::format("the optimizer, in {:.0f} ops", ops_per_step), Listed{.ops = 4, .lines = 2});
  if (!found) return std::nullopt;
  found->remedy = "Update all parameters with few kernels: fused=True for Adam, AdamW, SGD and Adagrad of PyTorch, else foreach=True.";
  return found;
}

std::optional<Finding> Rules::zeroed_gradients() const {
  const trace::Recording& recording = analysis_.recording();
  const trace::EventColumns& events = recording.events;
  std::vector<bool> fills;  // by name, so that texts are searched once
  for (const std::string& name : recording.names) fills.push_back(contains(name, "zero_") && !contains(name, "zero_grad"));
  std::int64_t time = 0, calls = 0;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (!fills[events.name[i]] || !analysis_.tree().is_node(i)) continue;
    const EventIndex around = analysis_.tree().parent(i);
    if (around == kNoEvent || !contains(recording.name(around), "Optimizer.zero_grad")) continue;
    time += events.duration_ns[i] + analysis_.launches().total_ns(i);
    ++calls;
  }
  const auto cost = static_cast<std::int64_t>(per_step(time));
  if (share_of_step(cost) < kWorthTelling) return std::nullopt;
  Finding found = finding("zeroed_gradients", "Gradients are filled with zeros", cost);
  found.evidence = {
      fmt::format("{:.0f} fills per step in zero_grad take {}, on the host and on the device", per_step(calls), time_text(cost))};
  found.remedy = "Drop the gradients instead: optimizer.zero_grad(set_to_none=True), which is PyTorch's default.";
  return found;
}

std::optional<Finding> Rules::uneven_steps() const {
  if (!phases_.has_steps() || steps_.size() < 8) return std::nullopt;
  std::int64_t lost = 0;
  std::vector<const StepPhases*> slow;
  for (const StepPhases& step : steps_) {
    if (step.duration_ns < step_ns_ + step_ns_ / 2) continue;
    lost += step.duration_ns - step_ns_;
    slow.push_back(&step);
  }
  const std::int64_t cost = lost / static_cast<std::int64_t>(steps_.size());
  const std::int64_t mean = step_sum_ / static_cast<std::int64_t>(steps_.size());
  const double share = static_cast<double>(cost) / static_cast<double>(std::max<std::int64_t>(1, mean));
  // If half of the steps are slow, that is how the program is, and not an exception.
  if (slow.empty() || slow.size() * 3 > steps_.size() || share < kWorthTelling) return std::nullopt;
  std::ranges::stable_sort(slow, std::ranges::greater{}, &StepPhases::duration_ns);
  Finding found = finding("uneven_steps", "Some steps are much slower than the others", cost);
  found.share = share;
  found.evidence = {
      fmt::format("{} of {} steps take more than 1.5 times the median of {}", slow.size(), steps_.size(), time_text(step_ns_))};
  for (std::size_t k = 0; k < std::min<std::size_t>(3, slow.size()); ++k) found.evidence.push_back(what_grew(*slow[k]));
  found.remedy =
      "Look at the slow steps in the timeline. Common causes are evaluation, checkpoints and logging inside of the loop, a data loader "
      "that "
      "runs dry, garbage collection, and shapes that are compiled anew.";
  return found;
}

std::string Rules::what_grew(const StepPhases& step) const {
  std::size_t most = 0;
  std::int64_t growth = 0;
  for (std::size_t phase = 0; phase < kHostPhases; ++phase) {
    const std::int64_t more = step.host[phase] - median_host(static_cast<HostPhase>(phase));
    if (more > growth) growth = more, most = phase;
  }
  return fmt::format("step {} took {}; {} more than usual in: {}", step.number, time_text(step.duration_ns), time_text(growth),
                     host_phase_name(static_cast<HostPhase>(most)));
}

std::optional<Finding> Rules::time_between_steps() const {
  if (!phases_.has_steps() || steps_.size() < 2) return std::nullopt;
  std::vector<std::int64_t> gaps;
  for (std::size_t k = 1; k < steps_.size(); ++k) {
    if (steps_[k].number == steps_[k - 1].number + 1)
      gaps.push_back(steps_[k].start_ns - steps_[k - 1].start_ns - steps_[k - 1].duration_ns);
  }
  const std::int64_t gap = median_of(gaps);
  if (share_of_step(gap) < kWorthTelling) return std::nullopt;
  Finding found = finding("time_between_steps", "Time passes between the steps", gap);
  found.evidence = {fmt::format("{} pass between the end of a step and the start of the next one", time_text(gap))};
  found.remedy = "Move what happens between steps (logging, checkpoints, loading) to another thread, or do it less often.";
  return found;
}

std::optional<Finding> Rules::python_between_ops() const {
  const std::int64_t time = median_host(HostPhase::kPython);
  const std::int64_t idle = phases_.has_device_work() ? median_device(DevicePhase::kIdle) : step_ns_;
  if (!phases_.has_steps() || share_of_step(std::min(time, idle)) < 0.5) return std::nullopt;
  Finding found = finding("python_between_ops", "Most of the time passes outside of ops", std::min(time, idle));
  found.evidence = {fmt::format("{} of each step ({}) pass in Python or in libraries that record nothing", time_text(time),
                                share_text(share_of_step(time)))};
  if (phases_.has_device_work()) found.evidence.push_back(fmt::format("the device is idle for {} of each step", time_text(idle)));
  found.remedy =
      "Record with stacks to see the lines. Prepare data in workers, replace loops over elements by ops on whole tensors, and compile "
      "the "
      "model (torch.compile).";
  return found;
}

std::int64_t median_of(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::vector<Finding> find_findings(const Analysis& analysis, const Phases& phases, const WorkTables& tables) {
  return Rules(analysis, phases, tables).finish();
}

}  // namespace mindtorch::analyze

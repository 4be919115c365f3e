// The rules about ops: how many there are, and with what they are called.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "mindtorch/analyze/arguments.h"
#include "mindtorch/analyze/report/code_tables.h"
#include "mindtorch/analyze/report/rules.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

// For each name whether it is meant, so that texts are looked at once.
template <class IsMeant>
std::vector<bool> meant_names(const trace::Recording& recording, IsMeant is_meant) {
  std::vector<bool> meant;
  for (const std::string& name : recording.names) meant.push_back(is_meant(std::string_view(name)));
  return meant;
}

// Reading or writing one element of a tensor from Python.
bool is_element_access(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames = {"aten::select",     "aten::item",   "aten::_local_scalar_dense", "aten::index",
                                                      "aten::is_nonzero", "aten::unbind", "aten::as_strided"};
  return std::ranges::find(kNames, name) != kNames.end();
}

// Time of the outermost ops that compute in float64, on the host or, if they launch work, on the device.
struct Float64Time {
  std::int64_t host_ns = 0, device_ns = 0, calls = 0;
  std::vector<EventIndex> ops;
};

Float64Time float64_time(const Judge& judge) {
  Float64Time time;
  const trace::Recording& recording = judge.analysis.recording();
  std::vector<Argument> arguments;
  EventIndex inside_until = 0;  // events before it lie in an op that was counted
  for (std::size_t row = 0; row < recording.inputs.events.size(); ++row) {
    const EventIndex event = recording.inputs.events[row];
    if (event < inside_until || recording.events.kind[event] != EventKind::kOp || !judge.analysis.tree().is_node(event)) continue;
    if (!judge.ledger.is_judged(recording.events.start_ns[event])) continue;
    read_arguments(recording.inputs.row(row), arguments);
    const bool is_double = std::ranges::any_of(arguments, [](const Argument& argument) {
      if (argument.kind != trace::Input::Kind::kTensor || argument.dtype != trace::ScalarType::kDouble) return false;
      return std::ranges::any_of(argument.values, [](std::int64_t extent) { return extent > 1; });  // a number is no product
    });
    if (!is_double) continue;
    inside_until = judge.analysis.tree().subtree_end(event);
    time.host_ns += recording.events.duration_ns[event];
    time.device_ns += judge.analysis.launches().total_ns(event);
    ++time.calls;
    time.ops.push_back(event);
  }
  return time;
}

constexpr const char* kFloat64Remedy =
    "float64 takes twice the memory and at least twice the time of float32. It usually comes from NumPy arrays or Python numbers: convert "
    "them where they enter (torch.from_numpy(a).float(), dtype=torch.float32).";

// Without the types of arguments: what `mtprof run` saw of the optimizer's parameters.
std::optional<Finding> float64_parameters(const Judge& judge) {
  const auto& metadata = judge.analysis.recording().metadata;
  const auto told = metadata.find("float64_share");
  const double share = told == metadata.end() ? 0 : std::strtod(told->second.c_str(), nullptr);
  if (share < Thresholds::kMostOfAStep) return std::nullopt;
  auto found = judge.worth(
      "float64_ops", "Tensors are computed in float64", [](const Cell& cell) { return !cell.is_on_device() && is_op_cause(cell.cause); },
      fmt::format("ops of a model that has {} of its parameters in float64", percent_text(share)));
  if (found) found->remedy = kFloat64Remedy;
  return found;
}

}  // namespace

std::optional<Finding> unfused_optimizer(const Judge& judge) {
  const trace::Recording& recording = judge.analysis.recording();
  const std::vector<bool> fused = meant_names(recording, [](std::string_view name) { return contains(name, "_fused_"); });
  // There is nothing to fuse in these: LBFGS works on one flat vector, SparseAdam on the rows that were used.
  const bool has_one_form = std::ranges::any_of(recording.names, [](std::string_view name) {
    return name == "Optimizer.step#LBFGS.step" || name == "Optimizer.step#SparseAdam.step";
  });
  if (has_one_form) return std::nullopt;
  bool is_fused = false;
  const double ops = judge.count_per_step([&](EventIndex i) {
    if (recording.events.kind[i] != EventKind::kOp || !judge.analysis.tree().is_node(i)) return false;
    if (judge.phases.of(i) != Cause::kOptimizer) return false;
    is_fused |= fused[recording.events.name[i]];
    return true;
  });
  if (is_fused || ops < Thresholds::kManyOptimizerOps) return std::nullopt;
  auto found = judge.worth(
      "unfused_optimizer", "The optimizer is not fused",
      [](const Cell& cell) { return !cell.is_on_device() && cell.cause == Cause::kOptimizer; },
      fmt::format("the optimizer, in {:.0f} ops", ops));
  if (found)
    found->remedy = "Update all parameters with few kernels: fused=True for Adam, AdamW, SGD and Adagrad of PyTorch, else foreach=True.";
  return found;
}

// How often a backward pass begins: nodes of one pass have descending sequence numbers.
std::int64_t backward_passes(const Judge& judge) {
  const trace::EventColumns& events = judge.analysis.recording().events;
  std::int64_t passes = 0, before = -1;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (events.kind[i] != EventKind::kBackward || !judge.ledger.is_judged(events.start_ns[i])) continue;
    const std::int64_t sequence = trace::sequence_of(events.link[i]);
    if (sequence < 0) continue;
    passes += sequence > before ? 1 : 0;
    before = sequence;
  }
  return std::max<std::int64_t>(1, passes);
}

// The time in which backward adds gradients to those that are there already. With one pass per step, it would keep them as they are if
// there were none.
std::int64_t adding_to_gradients(const Judge& judge) {
  const trace::EventColumns& events = judge.analysis.recording().events;
  std::int64_t time = 0;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (!judge.analysis.tree().is_node(i) || !judge.ledger.is_judged(events.start_ns[i])) continue;
    const std::string_view name = judge.analysis.recording().name(i);
    const EventIndex around = judge.analysis.tree().parent(i);
    if (around == kNoEvent || (name != "aten::add_" && name != "aten::add")) continue;
    if (judge.analysis.recording().name(around).ends_with("AccumulateGrad"))
      time += events.duration_ns[i] + judge.analysis.launches().total_ns(i);
  }
  const auto steps = static_cast<std::int64_t>(judge.ledger.steps());
  return time * std::min(steps, backward_passes(judge)) / backward_passes(judge);
}

std::optional<Finding> zeroed_gradients(const Judge& judge) {
  const trace::Recording& recording = judge.analysis.recording();
  const trace::EventColumns& events = recording.events;
  const std::vector<bool> fills =
      meant_names(recording, [](std::string_view name) { return contains(name, "zero_") && !contains(name, "zero_grad"); });
  std::int64_t time = 0;
  std::vector<EventIndex> fills_of_gradients;
  const double calls = judge.count_per_step([&](EventIndex i) {
    if (!fills[events.name[i]] || !judge.analysis.tree().is_node(i)) return false;
    const EventIndex around = judge.analysis.tree().parent(i);
    if (around == kNoEvent || !contains(recording.name(around), "Optimizer.zero_grad")) return false;
    if (judge.ledger.is_judged(events.start_ns[i])) fills_of_gradients.push_back(i);
    if (judge.ledger.is_judged(events.start_ns[i])) time += events.duration_ns[i] + judge.analysis.launches().total_ns(i);
    return true;
  });
  if (calls == 0) return std::nullopt;
  const std::int64_t adding = adding_to_gradients(judge);
  Claim claim = judge.free([](const Cell& cell) { return cell.cause == Cause::kOptimizer; }, time);
  claim.add(judge.free([](const Cell& cell) { return cell.cause == Cause::kBackward; }, adding));
  if (!judge.is_worth_telling(claim)) return std::nullopt;
  Finding found = judge.finding("zeroed_gradients", "Gradients are filled with zeros", claim);
  found.evidence = {
      fmt::format("{:.0f} fills per step in zero_grad take {}, and adding to the zeros takes {}, on the host and on the device", calls,
                  time_text(judge.ledger.per_step(time)), time_text(judge.ledger.per_step(adding)))};
  if (auto lines = judge.lines_in(fills_of_gradients, 3); !lines.empty()) found.lines = std::move(lines);
  found.remedy = "Drop the gradients instead: optimizer.zero_grad(set_to_none=True), which is PyTorch's default.";
  return found;
}

std::optional<Finding> float64_ops(const Judge& judge) {
  if (judge.analysis.recording().inputs.events.empty()) return float64_parameters(judge);
  const Float64Time time = float64_time(judge);
  const bool on_device = time.device_ns > 0;
  const Claim claim = judge.free(
      [&](const Cell& cell) {
        return cell.is_on_device() == on_device && (on_device ? cell.device == DevicePhase::kCompute : is_op_cause(cell.cause));
      },
      on_device ? time.device_ns : time.host_ns);
  if (!judge.is_worth_telling(claim)) return std::nullopt;
  Finding found = judge.finding("float64_ops", "Tensors are computed in float64", claim);
  found.evidence = {judge.passes_in(
      claim, fmt::format("{:.0f} ops on float64 tensors", static_cast<double>(time.calls) / static_cast<double>(judge.ledger.steps())))};
  found.remedy = kFloat64Remedy;
  if (const auto lines = lines_of(judge.analysis, time.ops, 3); !lines.empty()) found.lines = lines;
  found.ops.clear();
  for (const EventIndex op : time.ops) {
    const std::string name(judge.analysis.recording().name(op));
    if (found.ops.size() < 3 && std::ranges::find(found.ops, name) == found.ops.end()) found.ops.push_back(name);
  }
  return found;
}

std::optional<Finding> element_accesses(const Judge& judge) {
  const trace::Recording& recording = judge.analysis.recording();
  const std::vector<bool> accesses = meant_names(recording, is_element_access);
  const double count = judge.count_per_step([&](EventIndex i) {
    if (recording.events.kind[i] != EventKind::kOp || !accesses[recording.events.name[i]] || !judge.analysis.tree().is_node(i))
      return false;
    const Cause cause = judge.phases.of(i);
    if (cause == Cause::kBackward || cause == Cause::kOptimizer || cause == Cause::kLoading) return false;
    const EventIndex parent = judge.analysis.tree().parent(i);
    return parent == kNoEvent || recording.events.kind[parent] != EventKind::kOp;  // called by the program, and not by another op
  });
  if (count < Thresholds::kManyElementAccesses) return std::nullopt;
  const auto is_access = [&](const Cell& cell) {
    return !cell.is_on_device() && is_element_access(judge.name(cell)) && cell.cause != Cause::kBackward &&
           cell.cause != Cause::kOptimizer && cell.cause != Cause::kLoading;
  };
  // The Python between such ops, on the same lines, is part of the loop over elements.
  const std::vector<std::string> lines = judge.largest(
      judge.free(is_access), [&](const Cell& cell) { return judge.place(cell).line; }, 5);
  const auto is_meant = [&](const Cell& cell) {
    if (is_access(cell)) return true;
    const bool is_between = !cell.is_on_device() && (cell.cause == Cause::kPython || cell.cause == Cause::kForward);
    return is_between && cell.place != kNoPlace && std::ranges::find(lines, judge.place(cell).line) != lines.end();
  };
  const Claim claim = judge.free(is_meant);
  if (!judge.is_worth_telling(claim)) return std::nullopt;
  Finding found = judge.finding("element_accesses", "A loop reads tensors element by element", claim);
  found.evidence = {judge.passes_in(claim, fmt::format("{:.0f} accesses to single elements", count))};
  found.remedy = "Use ops on whole tensors (masks, gather, where), or convert the tensor once with .tolist() before the loop.";
  return found;
}

}  // namespace mindtorch::analyze

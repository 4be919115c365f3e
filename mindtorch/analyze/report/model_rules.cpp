// The rules about how a model is built and called: work that a different call of the same library saves.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "mindtorch/analyze/report/rules.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;
using NameList = std::span<const std::string_view>;

bool is_one_of(NameList names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

std::vector<bool> names_that_are(const trace::Recording& recording, NameList wanted) {
  std::vector<bool> meant;
  for (const std::string& name : recording.names) meant.push_back(is_one_of(wanted, name));
  return meant;
}

// The time of some events in the judged steps, on the host, and the names and causes of the ops in them.
struct TimeInside {
  std::int64_t ns = 0, calls = 0;
  std::set<EventNames::Key> names;
  std::set<Cause> causes;
  std::vector<EventIndex> outermost;

  void add(const Judge& judge, EventIndex event) {
    const trace::EventColumns& events = judge.analysis.recording().events;
    if (!judge.ledger.is_judged(events.start_ns[event])) return;
    ns += events.duration_ns[event];
    ++calls;
    outermost.push_back(event);
    for (EventIndex i = event; i < judge.analysis.tree().subtree_end(event); ++i) {
      if (!judge.analysis.tree().is_node(i)) continue;
      names.insert(judge.analysis.names().key(events.name[i]));
      causes.insert(judge.phases.of(i));
    }
  }
  double calls_per_step(const Judge& judge) const { return static_cast<double>(calls) / static_cast<double>(judge.ledger.steps()); }
};

// Calls `use` for the outermost events with these names. Events come in the order of a walk through their tree.
template <class Use>
void for_outermost(const Judge& judge, const std::vector<bool>& meant, Use use) {
  const trace::EventColumns& events = judge.analysis.recording().events;
  for (EventIndex i = 0; i < events.size();) {
    if (!meant[events.name[i]] || !judge.analysis.tree().is_node(i)) {
      ++i;
      continue;
    }
    use(i);
    i = std::max(i + 1, judge.analysis.tree().subtree_end(i));
  }
}

bool lies_in_backward(const Judge& judge, EventIndex event) {
  for (EventIndex around = judge.analysis.tree().parent(event); around != kNoEvent; around = judge.analysis.tree().parent(around)) {
    if (judge.analysis.recording().events.kind[around] == EventKind::kBackward) return true;
  }
  return false;
}

bool is_called_by_program(const Judge& judge, EventIndex event) {
  const EventIndex parent = judge.analysis.tree().parent(event);
  if (parent == kNoEvent) return true;
  const EventKind kind = judge.analysis.recording().events.kind[parent];
  return kind != EventKind::kOp && kind != EventKind::kBackward;
}

// A finding about time inside of events, charged to the cells of their ops.
std::optional<Finding> finding_inside(const Judge& judge, std::string_view id, std::string title, const TimeInside& inside, double least,
                                      std::string_view where) {
  const auto is_meant = [&](const Cell& cell) {
    return !cell.is_on_device() && inside.causes.contains(cell.cause) && inside.names.contains(cell.name);
  };
  const Claim claim = judge.free(is_meant, inside.ns);
  if (claim.ns == 0 || judge.ledger.share(claim.ns) < least) return std::nullopt;
  Finding found = judge.finding(id, std::move(title), claim);
  found.evidence = {judge.passes_in(claim, where)};
  if (auto lines = judge.lines_in(inside.outermost, 3); !lines.empty()) found.lines = std::move(lines);
  return found;
}

constexpr auto kElementWise = std::to_array<std::string_view>(
    {"aten::mul",        "aten::add",    "aten::sub",  "aten::rsub",  "aten::div",  "aten::pow",     "aten::tanh",      "aten::sigmoid",
     "aten::exp",        "aten::log",    "aten::sqrt", "aten::rsqrt", "aten::neg",  "aten::clamp",   "aten::clamp_min", "aten::where",
     "aten::erf",        "aten::square", "aten::abs",  "aten::sin",   "aten::cos",  "aten::maximum", "aten::minimum",   "aten::relu",
     "aten::reciprocal", "aten::lerp",   "aten::mul_", "aten::add_",  "aten::sub_", "aten::div_"});

// Ops that programs call in forward passes, and that no derivative calls.
constexpr auto kForwardOnly = std::to_array<std::string_view>(
    {"aten::linear", "aten::layer_norm", "aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::batch_norm", "aten::group_norm",
     "aten::embedding", "aten::gelu", "aten::relu", "aten::silu", "aten::softmax", "aten::dropout", "aten::scaled_dot_product_attention"});

constexpr std::size_t kShortestChain = 4;

}  // namespace

std::optional<Finding> anomaly_detection(const Judge& judge) {
  const trace::Recording& recording = judge.analysis.recording();
  constexpr auto kChecks = std::to_array<std::string_view>({"aten::isnan"});
  const std::vector<bool> checks = names_that_are(recording, kChecks);
  TimeInside inside;
  std::int64_t nodes = 0, checked = 0;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    nodes += recording.events.kind[i] == EventKind::kBackward ? 1 : 0;
    if (checks[recording.events.name[i]] && judge.analysis.tree().is_node(i)) ++checked;
  }
  // It looks for NaN in each gradient that a node computes.
  if (nodes == 0 || 2 * checked < nodes) return std::nullopt;
  constexpr auto kOfCheck = std::to_array<std::string_view>(
      {"aten::isnan", "aten::ne", "aten::any", "aten::item", "aten::is_nonzero", "aten::_local_scalar_dense", "aten::eq"});
  const auto is_meant = [&](const Cell& cell) {
    if (cell.is_on_device()) return false;
    const Place& place = judge.place(cell);
    if (contains(place.inner, "traceback.py") || contains(place.inner, "linecache.py")) return true;
    return is_one_of(kOfCheck, judge.name(cell)) && (cell.cause == Cause::kBackward || cell.cause == Cause::kDeviceWait);
  };
  auto found = judge.worth("anomaly_detection", "Anomaly detection is on", is_meant, "keeping stacks of ops and looking for NaN");
  if (found)
    found->remedy = "Switch it off when the bug is found: torch.autograd.set_detect_anomaly(False), detect_anomaly=False of a trainer.";
  return found;
}

std::optional<Finding> dense_embedding_gradients(const Judge& judge) {
  constexpr auto kDense = std::to_array<std::string_view>({"aten::embedding_dense_backward"});
  TimeInside inside;
  for_outermost(judge, names_that_are(judge.analysis.recording(), kDense), [&](EventIndex i) { inside.add(judge, i); });
  auto found = finding_inside(judge, "dense_embedding_gradients", "The gradient of an embedding is dense", inside, Thresholds::kMuch,
                              "making a gradient for each row of the table, also for those that the batch did not use");
  if (found)
    found->remedy =
        "If a batch uses few rows of a large table: nn.Embedding(..., sparse=True) with SGD, Adagrad or SparseAdam, which then update "
        "these "
        "rows alone.";
  return found;
}

std::optional<Finding> math_attention(const Judge& judge) {
  constexpr auto kMath = std::to_array<std::string_view>({"aten::_scaled_dot_product_attention_math"});
  TimeInside inside;
  for_outermost(judge, names_that_are(judge.analysis.recording(), kMath), [&](EventIndex i) { inside.add(judge, i); });
  auto found = finding_inside(judge, "math_attention", "Attention runs on the math kernel", inside, Thresholds::kMuch,
                              "attention that stores the whole matrix of scores, in the forward pass alone");
  if (found)
    found->remedy =
        "Let torch choose a flash or memory-efficient kernel: no sdpa_kernel(SDPBackend.MATH), is_causal=True instead of a mask, and a "
        "type, head size and layout that they know (TORCH_LOGS=+sdpa or sdpa_kernel(FLASH_ATTENTION) says what keeps them away).";
  return found;
}

std::optional<Finding> recomputation(const Judge& judge) {
  TimeInside inside;
  for_outermost(judge, names_that_are(judge.analysis.recording(), kForwardOnly), [&](EventIndex i) {
    if (lies_in_backward(judge, i)) inside.add(judge, i);
  });
  auto found = finding_inside(judge, "recomputation", "Forward passes run again during backward", inside, Thresholds::kMuch,
                              fmt::format("{:.0f} ops of forward passes that backward computes again", inside.calls_per_step(judge)));
  if (found)
    found->remedy =
        "Checkpointing trades time for memory. If memory is left, checkpoint fewer blocks, or let it keep the results of matrix products "
        "(torch.utils.checkpoint with a context_fn of create_selective_checkpoint_contexts).";
  return found;
}

std::optional<Finding> unused_graphs(const Judge& judge) {
  const trace::Recording& recording = judge.analysis.recording();
  const trace::EventColumns& events = recording.events;
  const auto sequence = [&](EventIndex i) { return trace::has_sequence(events.kind[i]) ? trace::sequence_of(events.link[i]) : -1; };
  std::set<std::int64_t> used;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (events.kind[i] == EventKind::kBackward && sequence(i) >= 0) used.insert(sequence(i));
  }
  if (used.empty()) return std::nullopt;  // a program that never trains, or whose backward pass was not recorded
  TimeInside inside;
  std::set<std::int64_t> unused;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (events.kind[i] != EventKind::kOp || !judge.analysis.tree().is_node(i) || !is_called_by_program(judge, i)) continue;
    if (judge.phases.of(i) != Cause::kForward || sequence(i) < 0 || !judge.ledger.is_judged(events.start_ns[i])) continue;
    // An op that records a node has the number of its own node or, if it calls others, of one of theirs.
    bool is_used = false;
    for (EventIndex k = i; k < judge.analysis.tree().subtree_end(i); ++k) is_used |= used.contains(sequence(k));
    if (is_used) continue;
    inside.add(judge, i);
    unused.insert(sequence(i));
  }
  // Numbers that do not grow are those of ops that record no node.
  const double nodes = static_cast<double>(unused.size()) / static_cast<double>(judge.ledger.steps());
  if (nodes < 4) return std::nullopt;
  auto found = finding_inside(judge, "unused_graphs", "Forward passes record a graph that is never used", inside, Thresholds::kMuch,
                              fmt::format("ops that record about {:.0f} nodes for a backward pass that never runs", nodes));
  if (found)
    found->remedy =
        "Evaluate under torch.no_grad() or torch.inference_mode(): activations are then freed at once, and not kept for backward.";
  return found;
}

std::optional<Finding> deep_copies(const Judge& judge) {
  const auto is_meant = [&](const Cell& cell) {
    const Place& place = judge.place(cell);
    return !cell.is_on_device() && cell.cause != Cause::kLoading &&
           (contains(place.called, "copy.py:deepcopy") || contains(place.inner, "copy.py:"));
  };
  auto found = judge.worth("deep_copies", "Objects are copied in each step (copy.deepcopy)", is_meant, "copy.deepcopy");
  if (found) found->remedy = "Copy into tensors that exist already (torch._foreach_copy_, tensor.copy_), and less often.";
  return found;
}

std::optional<Finding> converted_layouts(const Judge& judge) {
  const trace::Recording& recording = judge.analysis.recording();
  constexpr auto kContiguous = std::to_array<std::string_view>({"aten::contiguous"});
  TimeInside inside;
  for_outermost(judge, names_that_are(recording, kContiguous), [&](EventIndex i) {
    if (is_called_by_program(judge, i)) inside.add(judge, i);
  });
  auto found = finding_inside(judge, "converted_layouts", "Tensors are copied to change their layout", inside, Thresholds::kMuch,
                              fmt::format("{:.0f} calls of contiguous() that copy", inside.calls_per_step(judge)));
  if (found)
    found->remedy =
        "Keep one layout: convert model and input once with .to(memory_format=torch.channels_last), and leave out .contiguous() where ops "
        "take "
        "strided tensors.";
  return found;
}

std::optional<Finding> small_calls(const Judge& judge) {
  if (judge.phases.has_device_work()) return std::nullopt;  // small kernels are another rule's
  const trace::EventColumns& events = judge.analysis.recording().events;
  struct Calls {
    std::int64_t ns = 0;
    std::vector<EventIndex> forward, backward;
    double count() const { return static_cast<double>(forward.size() + backward.size()); }
  };
  std::map<EventNames::Key, Calls> by_name;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (!judge.analysis.tree().is_node(i) || !judge.ledger.is_judged(events.start_ns[i])) continue;
    const Cause cause = judge.phases.of(i);
    const EventIndex parent = judge.analysis.tree().parent(i);
    const bool is_forward = cause == Cause::kForward && events.kind[i] == EventKind::kOp && is_called_by_program(judge, i);
    const bool is_backward = cause == Cause::kBackward && (parent == kNoEvent || judge.phases.of(parent) != Cause::kBackward);
    if (!is_forward && !is_backward) continue;
    Calls& calls = by_name[judge.analysis.names().key(events.name[i])];
    calls.ns += events.duration_ns[i];
    (is_forward ? calls.forward : calls.backward).push_back(i);
  }
  TimeInside inside;
  std::vector<EventIndex> forward;
  for (const auto& [name, calls] : by_name) {
    const bool are_many = calls.count() >= Thresholds::kManySmallCalls * static_cast<double>(judge.ledger.steps());
    if (!are_many || static_cast<double>(calls.ns) >= static_cast<double>(Thresholds::kSmallCallNs) * calls.count()) continue;
    for (const EventIndex i : calls.forward) inside.add(judge, i);
    for (const EventIndex i : calls.backward) inside.add(judge, i);
    forward.insert(forward.end(), calls.forward.begin(), calls.forward.end());
  }
  if (forward.empty()) return std::nullopt;
  const double per_step = inside.calls_per_step(judge);
  auto found =
      finding_inside(judge, "small_calls", "Small ops are called one by one", inside, Thresholds::kVeryMuch,
                     fmt::format("{:.0f} small ops, forward and backward, of {} each", per_step, time_text(inside.ns / inside.calls)));
  if (!found) return found;
  if (auto lines = judge.lines_in(forward, 3); !lines.empty()) found->lines = std::move(lines);
  found->remedy =
      "Calling such an op takes as long as what it computes. Replace a loop over rows, time steps or samples by one call with all of them "
      "(torch.vmap, padded batches), or compile the model (torch.compile).";
  return found;
}

std::optional<Finding> elementwise_chains(const Judge& judge) {
  const trace::Recording& recording = judge.analysis.recording();
  const trace::EventColumns& events = recording.events;
  const std::vector<bool> elementwise = names_that_are(recording, kElementWise);
  // Runs of neighbours that the program calls.
  TimeInside inside;
  std::vector<EventIndex> run;
  std::size_t longest = 0;
  const auto end_run = [&] {
    if (run.size() >= kShortestChain) {
      for (const EventIndex i : run) inside.add(judge, i);
      longest = std::max(longest, run.size());
    }
    run.clear();
  };
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (events.kind[i] != EventKind::kOp || !judge.analysis.tree().is_node(i) || !is_called_by_program(judge, i)) continue;
    if (elementwise[events.name[i]] && judge.phases.of(i) == Cause::kForward) {
      run.push_back(i);
    } else {
      end_run();
    }
  }
  end_run();
  const auto is_elementwise = [&](const Cell& cell) { return !cell.is_on_device() && inside.names.contains(cell.name); };
  const Claim forward = judge.free([&](const Cell& cell) { return cell.cause == Cause::kForward && is_elementwise(cell); }, inside.ns);
  if (judge.ledger.share(forward.ns) < Thresholds::kMuch) return std::nullopt;
  const std::vector<std::string> lines = judge.largest(
      forward, [&](const Cell& cell) { return judge.place(cell).line; }, 3);
  const Claim claim = judge.free(
      [&](const Cell& cell) { return (cell.cause == Cause::kForward || cell.cause == Cause::kBackward) && is_elementwise(cell); });
  if (judge.ledger.share(claim.ns) < Thresholds::kVeryMuch) return std::nullopt;
  Finding found = judge.finding("elementwise_chains", "Chains of element-wise ops read and write memory again and again", claim);
  found.evidence = {judge.passes_in(claim, fmt::format("element-wise ops, forward and backward; up to {} follow each other", longest))};
  found.lines = lines;
  found.remedy =
      "Compile the function (torch.compile), which makes one pass over memory of a chain, or call a fused function of torch.nn.functional.";
  return found;
}

}  // namespace mindtorch::analyze

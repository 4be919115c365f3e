// The rules of memory_categories.h.
#include "mindtorch/analyze/memory_categories.h"

#include <algorithm>
#include <set>

#include "mindtorch/analyze/events.h"

namespace mindtorch::analyze {

using trace::EventKind;
using trace::MemoryCategory;

MemoryCategories::MemoryCategories(const Analysis& analysis)
    : analysis_(analysis), recording_(analysis.recording()), tree_(analysis.tree()) {
  find_backward_passes();
}

// torch wraps each autograd node in an op of its own.
bool MemoryCategories::is_autograd(EventIndex node) const {
  return recording_.events.kind[node] == EventKind::kBackward || recording_.name(node).starts_with("autograd::engine::evaluate_function");
}

MemoryCategories::Context MemoryCategories::context_of(EventIndex node) const {
  Context context;
  for (; node != kNoEvent; node = tree_.parent(node)) {
    const EventKind kind = recording_.events.kind[node];
    if (is_autograd(node)) {
      context.is_backward = true;
    } else if (kind == EventKind::kOp && !context.is_backward) {
      context.outermost_op = node;
    } else if (kind == EventKind::kScope && recording_.name(node).starts_with("Optimizer.step#")) {
      context.optimizer_step = node;
    }
  }
  return context;
}

// A backward pass lasts from the first autograd node, on any thread, until a thread that made forward calls runs an op of its own again.
void MemoryCategories::find_backward_passes() {
  std::set<std::uint32_t> forward_threads;
  for (EventIndex i = 0; i < recording_.events.size(); ++i) {
    if (recording_.events.kind[i] == EventKind::kBackward) forward_threads.insert(trace::forward_thread_of(recording_.events.link[i]));
  }
  if (forward_threads.empty()) return;
  const bool any_thread = forward_threads == std::set<std::uint32_t>{0};
  bool in_pass = false;
  const Events& events = analysis_.events();
  for (std::size_t i = 0; i < events.size(); ++i) {
    const FunctionEvent event = events[i];
    const EventIndex index = event.index();
    if (index == kNoEvent || !tree_.is_node(index)) continue;
    if (is_autograd(index)) {
      if (!in_pass) backward_passes_.push_back({event.start_ns(), event.end_ns()});
      in_pass = true;
      backward_passes_.back().end_ns = std::max(backward_passes_.back().end_ns, event.end_ns());
    } else if (in_pass && event.kind() == EventKind::kOp && event.start_ns() >= backward_passes_.back().end_ns) {
      in_pass = !any_thread && !forward_threads.contains(event.thread());
    }
  }
}

std::int64_t MemoryCategories::end_of_backward_pass(std::int64_t time_ns) const {
  const auto after = std::ranges::upper_bound(backward_passes_, time_ns, {}, &Span::start_ns);
  return after == backward_passes_.begin() ? time_ns : std::max(time_ns, (after - 1)->end_ns);
}

bool MemoryCategories::takes_no_tensor(EventIndex op) const {
  const auto words = recording_.inputs.find(op);
  if (words.empty()) return false;
  std::vector<Argument> arguments;
  read_arguments(words, arguments);
  return std::ranges::none_of(arguments, [](const Argument& a) { return a.kind == trace::Input::Kind::kTensor; });
}

MemoryCategory MemoryCategories::guess(std::size_t report, std::optional<std::int64_t> freed_ns) const {
  const EventIndex node = analysis_.memory_use().node_of(report);
  if (node == kNoEvent) return MemoryCategory::kUnknown;
  const Context context = context_of(node);
  const auto freed_by = [&](std::int64_t time_ns) { return freed_ns && *freed_ns <= time_ns; };
  if (context.outermost_op != kNoEvent && freed_by(recording_.events.end_ns(context.outermost_op))) return MemoryCategory::kTemporary;
  if (context.optimizer_step != kNoEvent) {
    return freed_by(recording_.events.end_ns(context.optimizer_step)) ? MemoryCategory::kTemporary : MemoryCategory::kOptimizerState;
  }
  if (context.is_backward) {
    return freed_by(end_of_backward_pass(recording_.memory.time_ns[report])) ? MemoryCategory::kAutogradDetail : MemoryCategory::kGradient;
  }
  if (context.outermost_op == kNoEvent) return MemoryCategory::kUnknown;
  return takes_no_tensor(context.outermost_op) ? MemoryCategory::kInput : MemoryCategory::kActivation;
}

}  // namespace mindtorch::analyze

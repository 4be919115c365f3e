// The calls with a cost: looked up by name and arguments, then thinned out where one lies in another.
#include "mindtorch/analyze/efficiency/modelled_calls.h"

#include <string>
#include <string_view>
#include <unordered_map>

#include "mindtorch/trace/open_spans.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

// Costs by op and arguments: a program calls few ops with few different shapes.
class Costs {
 public:
  explicit Costs(const trace::Recording& recording) : recording_(recording) {
    has_model_.reserve(recording.names.size());
    for (const std::string& name : recording.names) has_model_.push_back(has_cost_model(name));
  }

  // Null if the call has none.
  std::shared_ptr<const OpCost> of(EventIndex event, std::span<const std::int64_t> words) {
    const NameId name = recording_.events.name[event];
    if (!has_model_[name]) return nullptr;
    key_.assign(reinterpret_cast<const char*>(&name), sizeof(name));
    key_.append(reinterpret_cast<const char*>(words.data()), words.size_bytes());
    const auto [at, is_new] = costs_.try_emplace(key_);
    if (is_new) {
      read_arguments(words, arguments_);
      if (const auto cost = op_cost(recording_.names[name], arguments_)) at->second = std::make_shared<const OpCost>(*cost);
    }
    return at->second;
  }

 private:
  const trace::Recording& recording_;
  std::vector<bool> has_model_;  // by NameId
  std::string key_;              // reused
  std::vector<Argument> arguments_;
  std::unordered_map<std::string, std::shared_ptr<const OpCost>> costs_;
};

// True if `inner`, which lies in `outer`, does the work that `outer` stands for. A transform (vmap, grad) calls an op again for all samples
// at once, and the shapes of the inner call are the true ones.
bool is_counted_inside(const trace::Recording& recording, const ModelledCall& outer, const ModelledCall& inner) {
  const std::string_view name = recording.name(outer.event);
  if (is_made_of_others(name) || name == recording.name(inner.event)) return true;
  const bool is_matrix_product = name == "aten::mm" || name == "aten::addmm" || name == "aten::bmm" || name == "aten::baddbmm";
  return is_matrix_product && inner.cost->is_product;
}

// The autograd node around an event; kNoEvent if there is none.
EventIndex node_around(const Analysis& analysis, EventIndex event) {
  const EventTree& tree = analysis.tree();
  for (EventIndex around = tree.parent(event); around != kNoEvent; around = tree.parent(around)) {
    if (analysis.recording().events.kind[around] == EventKind::kBackward) return around;
  }
  return kNoEvent;
}

// Finds forward ops that run again in backward. A call that autograd records has a sequence number. The calls of an autograd node itself
// have none, unless the gradient is to be differentiated too, and then all calls of a node have one.
class Recomputed {
 public:
  explicit Recomputed(const Analysis& analysis) : analysis_(analysis), events_(analysis.recording().events) {}

  bool is(EventIndex event) {
    const EventIndex node = node_around(analysis_, event);
    if (node == kNoEvent) return false;
    bool is_recorded = false;
    for (EventIndex at = event; at != node; at = analysis_.tree().parent(at)) is_recorded = is_recorded || has_sequence(at);
    return is_recorded && runs_own_work(node);
  }

 private:
  bool has_sequence(EventIndex event) const {
    return events_.kind[event] == EventKind::kOp && trace::sequence_of(events_.link[event]) >= 0;
  }

  // The node calls ops that autograd does not record, or it belongs to a function that computes again by its nature.
  bool runs_own_work(EventIndex node) {
    const auto [at, is_new] = known_.try_emplace(node, false);
    if (!is_new) return at->second;
    at->second = analysis_.recording().name(node).find("CheckpointFunction") != std::string_view::npos;
    for (const EventIndex child : analysis_.tree().children(node)) {
      if (events_.kind[child] == EventKind::kOp && !has_sequence(child)) at->second = true;
    }
    return at->second;
  }

  const Analysis& analysis_;
  const trace::EventColumns& events_;
  std::unordered_map<EventIndex, bool> known_;
};

}  // namespace

ModelledCalls::ModelledCalls(const Analysis& analysis) : around_(analysis.recording().events.size(), 0xFFFFFFFF) {
  find_calls(analysis);
  for (std::size_t k = 0; k < calls_.size(); ++k) {
    const EventIndex end = analysis.tree().subtree_end(calls_[k].event);
    for (EventIndex i = calls_[k].event; i < end; ++i) around_[i] = static_cast<std::uint32_t>(k);
  }
  Recomputed recomputed(analysis);
  for (ModelledCall& call : calls_) call.is_recomputed = call.cost->is_product && recomputed.is(call.event);
  find_modules(analysis);
}

void ModelledCalls::find_calls(const Analysis& analysis) {
  const trace::Recording& recording = analysis.recording();
  const EventTree& tree = analysis.tree();
  Costs costs(recording);
  ShapeIds shapes;
  std::vector<ModelledCall> found;
  for (std::size_t row = 0; row < recording.inputs.events.size(); ++row) {
    const EventIndex event = recording.inputs.events[row];
    if (recording.events.kind[event] != EventKind::kOp || !tree.is_node(event)) continue;
    if (auto cost = costs.of(event, recording.inputs.row(row)))
      found.push_back({.event = event, .cost = std::move(cost), .shapes = shapes.id(recording.inputs.row(row))});
  }
  EventIndex counted_until = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (found[k].event < counted_until) continue;
    const EventIndex end = tree.subtree_end(found[k].event);
    bool is_inside = false;
    for (std::size_t next = k + 1; !is_inside && next < found.size() && found[next].event < end; ++next)
      is_inside = is_counted_inside(recording, found[k], found[next]);
    if (is_inside) continue;
    calls_.push_back(found[k]);
    counted_until = end;
  }
}

void ModelledCalls::find_modules(const Analysis& analysis) {
  const trace::Recording& recording = analysis.recording();
  const trace::EventColumns& events = recording.events;
  std::unordered_map<std::int64_t, NameId> module_of_sequence;
  trace::OpenSpans<NameId> open;
  for (const trace::Track& track : recording.tracks) {
    open.clear();
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      open.close_until(events.start_ns[i]);
      if (events.kind[i] == EventKind::kModule) open.open(events.end_ns(i), events.name[i]);
      if (open.empty() || events.kind[i] != EventKind::kOp) continue;
      if (const std::int64_t sequence = trace::sequence_of(events.link[i]); sequence >= 0) module_of_sequence[sequence] = open.innermost();
      if (const std::uint32_t call = around_[i]; call != 0xFFFFFFFF && calls_[call].event == i) calls_[call].module = open.innermost();
    }
  }
  if (module_of_sequence.empty()) return;
  for (ModelledCall& call : calls_) {
    if (call.module != 0) continue;
    const EventIndex node = node_around(analysis, call.event);
    const std::int64_t sequence = node == kNoEvent ? -1 : trace::sequence_of(events.link[node]);
    if (const auto known = module_of_sequence.find(sequence); sequence >= 0 && known != module_of_sequence.end())
      call.module = known->second;
  }
}

}  // namespace mindtorch::analyze

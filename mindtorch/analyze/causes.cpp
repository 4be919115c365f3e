// One pass over the events, parents before children.
#include "mindtorch/analyze/causes.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>

#include "mindtorch/analyze/launch_links.h"
#include "mindtorch/base/text.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

constexpr std::array<std::string_view, kCauses> kCauseNames = {"forward",
                                                               "backward",
                                                               "optimizer",
                                                               "data loading",
                                                               "copies",
                                                               "collectives",
                                                               "waiting for the device",
                                                               "Python",
                                                               "outside of ops",
                                                               "compiling",
                                                               "waiting for a lock",
                                                               "waiting for the GIL",
                                                               "files and network",
                                                               "waiting for another thread",
                                                               "sleeping",
                                                               "garbage collection",
                                                               "native libraries",
                                                               "not running",
                                                               "the profiler itself",
                                                               "waiting for requests"};

bool starts_with_one_of(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// The cause that a name says whatever is around the event.
std::optional<Cause> cause_of_name(std::string_view name, bool has_device_work) {
  if (name.starts_with("autograd::engine::evaluate_function")) return Cause::kBackward;
  if (starts_with_one_of(name, {"Optimizer.", "## Optimizer."})) return Cause::kOptimizer;
  if (starts_with_one_of(name, {"enumerate(DataLoader)", "DataLoader", "Dataset.__getitem__", "collate_fn(", "pin_memory"}))
    return Cause::kLoading;
  if (starts_with_one_of(name, {"nccl:", "gloo:", "mpi:", "ucc:", "hccl:", "c10d::", "record_param_comms"})) return Cause::kCollective;
  if (name.ends_with("(dynamo_timed)")) return Cause::kCompiling;
  if (has_device_work && (name == "aten::item" || name == "aten::_local_scalar_dense")) return Cause::kDeviceWait;
  if (name == "aten::copy_" || name == "aten::_to_copy") return Cause::kCopy;
  return std::nullopt;
}

std::optional<Cause> cause_of_call(std::string_view name) {
  if (contains(name, "Synchronize")) return Cause::kDeviceWait;
  if (contains(name, "Memcpy")) return Cause::kCopy;
  return std::nullopt;
}

// Inside of these, everything belongs to them: what a loader copies or computes is loading.
bool keeps_everything(Cause cause) {
  return cause == Cause::kLoading || cause == Cause::kCompiling || cause == Cause::kDeviceWait || cause == Cause::kCollective;
}

}  // namespace

std::string_view cause_name(Cause cause) { return kCauseNames[static_cast<std::size_t>(cause)]; }

bool is_collective_name(std::string_view name) {
  return starts_with_one_of(name, {"nccl", "hccl", "hcom_", "rccl"}) || contains(name, "ncclDevKernel") || contains(name, "ncclKernel");
}

EventCauses::EventCauses(const trace::Recording& recording, const EventTree& tree) : recording_(&recording), tree_(&tree) {
  has_device_work_ = std::ranges::any_of(recording.events.kind, is_device_work);
  known_.assign(2 * recording.names.size(), 0);
  cause_.assign(recording.events.size(), Cause::kUnknown);
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    if (tree.is_node(i)) cause_[i] = cause_of(i);
  }
}

Cause EventCauses::cause_of(EventIndex event) {
  const trace::EventColumns& events = recording_->events;
  const EventKind kind = events.kind[event];
  const EventIndex parent = tree_->parent(event);
  const Cause around = parent == kNoEvent ? Cause::kUnknown : cause_[parent];
  if (keeps_everything(around)) return around;
  if (kind == EventKind::kBackward) return Cause::kBackward;
  if (kind == EventKind::kOverhead) return Cause::kOverhead;
  if (kind == EventKind::kStep) return Cause::kUnknown;
  const bool is_call = trace::is_launch_kind(kind);
  std::uint8_t& known = known_[2 * std::size_t{events.name[event]} + (is_call ? 1 : 0)];
  if (known == 0) {
    const std::string_view name = recording_->name(event);
    const std::optional<Cause> own = is_call ? cause_of_call(name) : cause_of_name(name, has_device_work_);
    known = own ? static_cast<std::uint8_t>(static_cast<int>(*own) + 2) : 1;
  }
  if (around == Cause::kOptimizer) {
    // An op that is recorded for the backward pass is not the optimizer's own: a closure runs the model inside of step().
    const bool is_of_closure = kind == EventKind::kOp && trace::sequence_of(events.link[event]) >= 0;
    const bool is_backward = known == static_cast<int>(Cause::kBackward) + 2;
    if (!is_of_closure && !is_backward) return around;
    return is_backward ? Cause::kBackward : known == 1 ? Cause::kForward : static_cast<Cause>(known - 2);
  }
  if (known > 1) return static_cast<Cause>(known - 2);
  const bool is_work = kind == EventKind::kOp || is_call;
  return around == Cause::kUnknown && is_work ? Cause::kForward : around;
}

std::int64_t EventCauses::begins_at(EventIndex event) const {
  const bool may_have_closure = cause_[event] == Cause::kOptimizer && recording_->events.kind[event] == EventKind::kScope;
  return may_have_closure ? closure_end(event) : recording_->events.start_ns[event];
}

std::int64_t EventCauses::closure_end(EventIndex step) const {
  std::int64_t end = recording_->events.start_ns[step];
  for (EventIndex i = step + 1; i < tree_->subtree_end(step);) {
    const bool is_of_closure = tree_->is_node(i) && cause_[i] != Cause::kOptimizer && cause_[i] != Cause::kUnknown &&
                               !trace::is_launch_kind(recording_->events.kind[i]);
    if (is_of_closure) end = std::max(end, recording_->events.end_ns(i));
    i = is_of_closure ? tree_->subtree_end(i) : i + 1;
  }
  return std::min(end, recording_->events.end_ns(step));
}

}  // namespace mindtorch::analyze

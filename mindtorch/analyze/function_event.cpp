// The fields of an event.
#include "mindtorch/analyze/function_event.h"

#include <array>

#include "mindtorch/trace/tensor_identity.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

constexpr std::string_view kMemoryName = "[memory]";

std::span<const std::int64_t> arguments_of(const trace::Recording& recording, EventIndex event) {
  return trace::takes_arguments(recording.events.kind[event]) ? recording.inputs.find(event) : std::span<const std::int64_t>();
}

}  // namespace

int record_scope(EventKind kind) {
  if (kind == EventKind::kBackward) return 1;
  return trace::is_user_kind(kind) ? 7 : 0;
}

std::int64_t FunctionEvent::id() const { return static_cast<std::int64_t>(recording().first_id + item_); }

EventIndex FunctionEvent::index() const { return is_memory_report() ? kNoEvent : item_; }

std::string_view FunctionEvent::name() const {
  return is_memory_report() ? kMemoryName : analysis_->names().text(analysis_->names().key(recording().events.name[item_]));
}

std::string_view FunctionEvent::trace_name() const {
  return is_memory_report() ? kMemoryName : analysis_->names().trace_text(recording().events.name[item_]);
}

std::string_view FunctionEvent::overload_name() const { return is_memory_report() ? std::string_view() : analysis_->overload_name(item_); }

EventKind FunctionEvent::kind() const { return is_memory_report() ? EventKind::kInstant : recording().events.kind[item_]; }

std::string_view FunctionEvent::kind_name() const {
  static constexpr std::array<std::string_view, trace::kEventKinds> kNames = {
      "op",     "op",     "scope",  "scope", "module",     "python_function", "runtime", "driver",
      "kernel", "memcpy", "memset", "sync",  "collective", "device_scope",    "instant", "overhead"};
  return is_memory_report() ? "memory" : kNames[static_cast<std::size_t>(kind())];
}

std::int64_t FunctionEvent::start_ns() const {
  return is_memory_report() ? recording().memory.time_ns[report()] : recording().events.start_ns[item_];
}
std::int64_t FunctionEvent::end_ns() const { return is_memory_report() ? start_ns() : recording().events.end_ns(item_); }
double FunctionEvent::start_us() const { return static_cast<double>(start_ns() - recording().clock.start_ns) / 1000.0; }
double FunctionEvent::end_us() const { return static_cast<double>(end_ns() - recording().clock.start_ns) / 1000.0; }
std::int64_t FunctionEvent::step() const { return recording().step_at(start_ns()); }

const trace::Track& FunctionEvent::track() const {
  return recording().tracks[is_memory_report() ? recording().memory.track[report()] : recording().track_of(item_)];
}

std::uint32_t FunctionEvent::thread() const { return track().number; }
std::int64_t FunctionEvent::thread_id() const { return track().id; }

std::uint32_t FunctionEvent::fwd_thread() const {
  return kind() == EventKind::kOp || kind() == EventKind::kBackward ? trace::forward_thread_of(recording().events.link[item_]) : 0;
}

std::int64_t FunctionEvent::sequence_nr() const {
  return kind() == EventKind::kOp || kind() == EventKind::kBackward ? trace::sequence_of(recording().events.link[item_]) : -1;
}

// Of the events of a node of the backward pass only the node itself is one of its functions, not what the engine does around it.
int FunctionEvent::scope() const {
  if (!is_memory_report() && (recording().events.flags[item_] & trace::kScripted) != 0) return 2;
  const bool is_engine = kind() == EventKind::kBackward && trace_name().starts_with("autograd::engine::");
  return record_scope(is_engine ? EventKind::kOp : kind());
}
bool FunctionEvent::is_async() const { return !is_memory_report() && (recording().events.flags[item_] & trace::kAsync) != 0; }
bool FunctionEvent::is_user_annotation() const { return !is_memory_report() && is_annotation(kind()); }

trace::DeviceType FunctionEvent::device_type() const { return device().type; }

trace::Device FunctionEvent::device() const {
  return !is_memory_report() && trace::is_device_kind(kind()) ? recording().events.device[item_] : trace::Device{};
}

std::optional<trace::Device> FunctionEvent::op_device() const {
  if (is_memory_report()) return recording().memory.device[report()];
  const bool known = trace::is_device_kind(kind()) || (recording().events.flags[item_] & trace::kKnownDevice) != 0;
  return known ? std::optional(recording().events.device[item_]) : std::nullopt;
}

std::int64_t FunctionEvent::device_resource_id() const {
  return track().kind == trace::Track::Kind::kStream ? track().id : std::int64_t{thread()};
}

bool FunctionEvent::is_node() const { return !is_memory_report() && analysis_->tree().is_node(item_); }

std::int64_t FunctionEvent::cpu_time_total_ns() const { return trace::is_device_kind(kind()) ? 0 : duration_ns(); }
std::int64_t FunctionEvent::self_cpu_time_total_ns() const { return is_node() ? analysis_->tree().self_ns(item_) : 0; }

std::int64_t FunctionEvent::device_time_total_ns() const {
  if (trace::is_device_kind(kind())) return duration_ns();
  return is_node() ? analysis_->launches().total_ns(item_) : 0;
}

std::int64_t FunctionEvent::self_device_time_total_ns() const {
  if (trace::is_device_kind(kind())) return kind() == EventKind::kSync ? 0 : duration_ns();
  return is_node() ? analysis_->launches().self_ns(item_) : 0;
}

MemoryDelta FunctionEvent::memory_usage() const {
  if (is_memory_report()) return delta_of(recording().memory, report());
  return is_node() ? analysis_->memory_use().total(item_) : MemoryDelta{};
}

MemoryDelta FunctionEvent::self_memory_usage() const {
  if (is_memory_report()) return memory_usage();
  return is_node() ? analysis_->memory_use().self(item_) : MemoryDelta{};
}

std::optional<MemorySpan> FunctionEvent::memory_span() const {
  if (!recording().options.memory || is_memory_report() || trace::is_device_kind(kind())) return std::nullopt;
  const trace::Device device = op_device().value_or(trace::Device{});
  return MemorySpan{device, analysis_->memory_totals().before(device, start_ns()), analysis_->memory_totals().after(device, end_ns())};
}

std::int64_t FunctionEvent::flops() const { return is_memory_report() ? 0 : analysis_->flops().of(item_); }

std::optional<FunctionEvent> FunctionEvent::cpu_parent() const {
  if (is_memory_report()) return std::nullopt;
  const EventIndex parent = analysis_->tree().parent(item_);
  return parent == kNoEvent ? std::nullopt : std::optional<FunctionEvent>({*analysis_, parent});
}

std::vector<FunctionEvent> FunctionEvent::cpu_children() const {
  std::vector<FunctionEvent> children;
  if (is_memory_report()) return children;
  for (const EventIndex child : analysis_->tree().children(item_)) children.emplace_back(*analysis_, child);
  return children;
}

std::vector<Kernel> FunctionEvent::kernels() const {
  std::vector<Kernel> kernels;
  if (is_memory_report()) return kernels;
  for (const EventIndex activity : analysis_->launches().activities_of(item_)) {
    kernels.push_back(
        {FunctionEvent(*analysis_, activity).name(), recording().events.device[activity].index, recording().events.duration_ns[activity]});
  }
  return kernels;
}

Shapes FunctionEvent::shapes() const { return is_memory_report() ? Shapes() : input_shapes(arguments_of(recording(), item_)); }

std::vector<trace::Input> FunctionEvent::inputs() const {
  if (is_memory_report()) return {};
  const auto words = arguments_of(recording(), item_);
  return words.empty() ? std::vector<trace::Input>() : trace::decode_inputs(words);
}

std::vector<std::string> FunctionEvent::stack() const {
  if (is_memory_report()) return {};
  const std::optional<StackId> stack = analysis_->stacks().of(item_);
  return stack ? analysis_->stacks().frames(*stack) : std::vector<std::string>();
}

Average FunctionEvent::as_row() const {
  Average row;
  row.key = name();
  row.count = 1;
  row.cpu_time_total_ns = row.outermost_cpu_time_ns = cpu_time_total_ns();
  row.self_cpu_time_total_ns = self_cpu_time_total_ns();
  row.device_time_total_ns = device_time_total_ns();
  row.self_device_time_total_ns = self_device_time_total_ns();
  row.cpu_memory_usage = memory_usage().cpu;
  row.self_cpu_memory_usage = self_memory_usage().cpu;
  row.device_memory_usage = memory_usage().device;
  row.self_device_memory_usage = self_memory_usage().device;
  row.flops = flops();
  row.input_shapes = shapes();
  row.stack = stack();
  row.overload_name = overload_name();
  row.device_type = device_type();
  row.op_device = op_device();
  row.use_device = analysis_->use_device();
  row.scope = scope();
  row.is_async = is_async();
  row.is_user_annotation = is_user_annotation();
  row.first_event = index();
  row.parent = is_memory_report() ? kNoEvent : analysis_->tree().parent(item_);
  return row;
}

}  // namespace mindtorch::analyze

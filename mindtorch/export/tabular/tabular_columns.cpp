// The columns of averages, events, counters, steps and samples of threads, and how each value is read.
#include "mindtorch/export/tabular/tabular_columns.h"

#include <array>
#include <optional>

#include "mindtorch/analyze/event_stacks.h"
#include "mindtorch/base/text.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::exporter {
namespace {

using analyze::Average;
using analyze::MemorySpan;
using analyze::shapes_text;
using analyze::Work;

Value texts(const std::vector<std::string>& list) {
  std::string out = "[";
  for (const std::string& text : list) out += (out.size() > 1 ? "," : "") + json_quoted(text);
  return Json{out + "]"};
}

Value device_name(const std::optional<trace::Device>& device) {
  if (!device) return std::monostate();
  return trace::device_text(*device);
}

constexpr auto kAverageColumns = std::to_array<TabularColumn<Average>>({
    {"key", ColumnType::kText, [](const Average& a) -> Value { return std::string_view(a.key); }},
    {"overload_name", ColumnType::kText, [](const Average& a) -> Value { return std::string_view(a.overload_name); }},
    {"device_type", ColumnType::kText, [](const Average& a) -> Value { return trace::device_type_name(a.device_type); }},
    {"op_device", ColumnType::kText, [](const Average& a) { return device_name(a.op_device); }},
    {"count", ColumnType::kInteger, [](const Average& a) -> Value { return a.count; }},
    {"self_cpu_time_total", ColumnType::kReal, [](const Average& a) -> Value { return Time{a.self_cpu_time_total_ns}; }},
    {"cpu_time_total", ColumnType::kReal, [](const Average& a) -> Value { return Time{a.cpu_time_total_ns}; }},
    {"cpu_time", ColumnType::kReal, [](const Average& a) -> Value { return a.cpu_time(); }},
    {"self_device_time_total", ColumnType::kReal, [](const Average& a) -> Value { return Time{a.self_device_time_total_ns}; }},
    {"device_time_total", ColumnType::kReal, [](const Average& a) -> Value { return Time{a.device_time_total_ns}; }},
    {"device_time", ColumnType::kReal, [](const Average& a) -> Value { return a.device_time(); }},
    {"self_cpu_memory_usage", ColumnType::kInteger, [](const Average& a) -> Value { return a.self_cpu_memory_usage; }},
    {"cpu_memory_usage", ColumnType::kInteger, [](const Average& a) -> Value { return a.cpu_memory_usage; }},
    {"self_device_memory_usage", ColumnType::kInteger, [](const Average& a) -> Value { return a.self_device_memory_usage; }},
    {"device_memory_usage", ColumnType::kInteger, [](const Average& a) -> Value { return a.device_memory_usage; }},
    {"flops", ColumnType::kInteger, [](const Average& a) -> Value { return a.flops; }},
    {"input_shapes", ColumnType::kText,
     [](const Average& a) -> Value { return a.input_shapes ? Value(Json{shapes_text(*a.input_shapes)}) : Value(); }},
    {"stack", ColumnType::kText, [](const Average& a) -> Value { return a.stack.empty() ? Value() : texts(a.stack); }},
    {"scope", ColumnType::kInteger, [](const Average& a) -> Value { return std::int64_t{a.scope}; }},
    {"is_async", ColumnType::kBool, [](const Average& a) -> Value { return a.is_async; }},
    {"is_user_annotation", ColumnType::kBool, [](const Average& a) -> Value { return a.is_user_annotation; }},
});

template <std::int64_t MemorySpan::*Member>
Value memory_value(const EventRow& row) {
  const auto span = row.event.memory_span();
  return span ? Value((*span).*Member) : Value();
}

constexpr auto kEventColumns = std::to_array<TabularColumn<EventRow>>({
    {"id", ColumnType::kInteger, [](const EventRow& r) -> Value { return r.event.id(); }},
    {"name", ColumnType::kText, [](const EventRow& r) -> Value { return r.event.trace_name(); }},
    {"kind", ColumnType::kText, [](const EventRow& r) -> Value { return r.event.kind_name(); }},
    {"device_type", ColumnType::kText, [](const EventRow& r) -> Value { return trace::device_type_name(r.event.device_type()); }},
    {"op_device", ColumnType::kText, [](const EventRow& r) { return device_name(r.event.op_device()); }},
    {"step", ColumnType::kInteger, [](const EventRow& r) -> Value { return r.event.step(); }},
    {"start_ns", ColumnType::kInteger, [](const EventRow& r) -> Value { return r.event.start_ns(); }},
    {"duration_ns", ColumnType::kInteger, [](const EventRow& r) -> Value { return r.event.duration_ns(); }},
    {"thread", ColumnType::kInteger, [](const EventRow& r) -> Value { return std::int64_t{r.event.thread()}; }},
    {"thread_id", ColumnType::kInteger, [](const EventRow& r) -> Value { return r.event.thread_id(); }},
    {"sequence_nr", ColumnType::kInteger, [](const EventRow& r) -> Value { return r.event.sequence_nr(); }},
    {"parent_id", ColumnType::kInteger,
     [](const EventRow& r) -> Value {
       const auto p = r.event.cpu_parent();
       return p ? Value(p->id()) : Value();
     }},
    {"self_cpu_time_ns", ColumnType::kInteger, [](const EventRow& r) -> Value { return r.event.self_cpu_time_total_ns(); }},
    {"device_time_ns", ColumnType::kInteger, [](const EventRow& r) -> Value { return r.event.device_time_total_ns(); }},
    {"self_device_time_ns", ColumnType::kInteger, [](const EventRow& r) -> Value { return r.event.self_device_time_total_ns(); }},
    {"memory_allocated_before", ColumnType::kInteger, memory_value<&MemorySpan::before>},
    {"memory_allocated_after", ColumnType::kInteger, memory_value<&MemorySpan::after>},
    {"flops", ColumnType::kInteger, [](const EventRow& r) -> Value { return r.options.flops ? Value(r.event.flops()) : Value(); }},
    {"input_shapes", ColumnType::kText,
     [](const EventRow& r) -> Value { return r.options.shapes ? Value(Json{shapes_text(r.event.shapes())}) : Value(); }},
    {"stack", ColumnType::kText, [](const EventRow& r) -> Value { return r.options.stacks ? texts(r.event.stack()) : Value(); }},
    {"is_async", ColumnType::kBool, [](const EventRow& r) -> Value { return r.event.is_async(); }},
});

constexpr auto kCounterColumns = std::to_array<TabularColumn<CounterRow>>({
    {"name", ColumnType::kText, [](const CounterRow& r) -> Value { return r.counter.name; }},
    {"unit", ColumnType::kText, [](const CounterRow& r) -> Value { return r.counter.unit; }},
    {"device", ColumnType::kText, [](const CounterRow& r) { return device_name(r.counter.device); }},
    {"time_ns", ColumnType::kInteger, [](const CounterRow& r) -> Value { return r.counter.times_ns[r.at]; }},
    {"value", ColumnType::kReal, [](const CounterRow& r) -> Value { return r.counter.values[r.at]; }},
});

constexpr auto kStepColumns = std::to_array<TabularColumn<analyze::Step>>({
    {"number", ColumnType::kInteger, [](const analyze::Step& s) -> Value { return s.number; }},
    {"start_ns", ColumnType::kInteger, [](const analyze::Step& s) -> Value { return s.start_ns; }},
    {"duration_ns", ColumnType::kInteger, [](const analyze::Step& s) -> Value { return s.duration_ns; }},
    {"events", ColumnType::kInteger, [](const analyze::Step& s) -> Value { return s.events; }},
    {"device_ns", ColumnType::kInteger, [](const analyze::Step& s) -> Value { return s.device_ns; }},
});

// A number of work that has a limit.
template <class Read>
Value limit_value(const EfficiencyRow& row, Read read) {
  return row.row.work.has_limit() ? Value(read(row.row.work)) : Value();
}

constexpr auto kEfficiencyColumns = std::to_array<TabularColumn<EfficiencyRow>>({
    {"kind", ColumnType::kText, [](const EfficiencyRow& r) -> Value { return r.kind; }},
    {"name", ColumnType::kText, [](const EfficiencyRow& r) -> Value { return std::string_view(r.row.name); }},
    {"shapes", ColumnType::kText,
     [](const EfficiencyRow& r) -> Value { return r.row.shapes.empty() ? Value() : Value(Json{r.row.shapes}); }},
    {"device", ColumnType::kText, [](const EfficiencyRow& r) { return device_name(r.row.device); }},
    {"unit", ColumnType::kText,
     [](const EfficiencyRow& r) -> Value { return r.row.unit ? Value(trace::compute_unit_name(*r.row.unit)) : Value(); }},
    {"calls", ColumnType::kInteger, [](const EfficiencyRow& r) -> Value { return r.row.work.calls; }},
    {"time_ns", ColumnType::kInteger, [](const EfficiencyRow& r) -> Value { return r.row.work.time_ns; }},
    {"flops", ColumnType::kReal, [](const EfficiencyRow& r) -> Value { return r.row.work.flops; }},
    {"bytes", ColumnType::kReal, [](const EfficiencyRow& r) -> Value { return r.row.work.bytes; }},
    {"tflops", ColumnType::kReal, [](const EfficiencyRow& r) -> Value { return r.row.work.tflops(); }},
    {"tbytes", ColumnType::kReal, [](const EfficiencyRow& r) -> Value { return r.row.work.tbytes(); }},
    {"bound", ColumnType::kText,
     [](const EfficiencyRow& r) {
       return limit_value(r, [](const Work& work) { return std::string_view(work.is_bound_by_memory() ? "memory" : "compute"); });
     }},
    {"limit_ns", ColumnType::kReal, [](const EfficiencyRow& r) { return limit_value(r, [](const Work& work) { return work.limit_ns; }); }},
    {"share_of_limit", ColumnType::kReal,
     [](const EfficiencyRow& r) { return limit_value(r, [](const Work& work) { return work.share_of_limit(); }); }},
    {"above_limit_ns", ColumnType::kReal,
     [](const EfficiencyRow& r) { return limit_value(r, [](const Work& work) { return work.above_limit_ns(); }); }},
    {"explanation", ColumnType::kText,
     [](const EfficiencyRow& r) -> Value { return r.row.explanation.empty() ? Value() : Value(std::string_view(r.row.explanation)); }},
});

const trace::Track& track_of(const SampleRow& row) { return row.recording.tracks[row.recording.samples.track[row.at]]; }

// The innermost frame; null if the thread ran no Python.
const trace::Frame* frame_of(const SampleRow& row) {
  const auto frames = row.recording.stacks.frames_of(row.recording.samples.stack[row.at]);
  return frames.empty() ? nullptr : &row.recording.stacks.frames[frames.front()];
}

Value stack_of(const SampleRow& row) {
  std::vector<std::string> list;
  for (const std::uint32_t frame : row.recording.stacks.frames_of(row.recording.samples.stack[row.at]))
    list.push_back(analyze::frame_text(row.recording, row.recording.stacks.frames[frame]));
  return texts(list);
}

constexpr auto kSampleColumns = std::to_array<TabularColumn<SampleRow>>({
    {"time_ns", ColumnType::kInteger, [](const SampleRow& r) -> Value { return r.recording.samples.time_ns[r.at]; }},
    {"duration_ns", ColumnType::kInteger, [](const SampleRow& r) -> Value { return r.recording.samples.duration_ns[r.at]; }},
    {"process_id", ColumnType::kInteger, [](const SampleRow& r) -> Value { return track_of(r).pid; }},
    {"thread_id", ColumnType::kInteger, [](const SampleRow& r) -> Value { return track_of(r).id; }},
    {"thread_name", ColumnType::kText, [](const SampleRow& r) -> Value { return std::string_view(track_of(r).name); }},
    {"state", ColumnType::kText, [](const SampleRow& r) -> Value { return trace::thread_state_name(r.recording.samples.state[r.at]); }},
    {"function", ColumnType::kText,
     [](const SampleRow& r) -> Value {
       const trace::Frame* const frame = frame_of(r);
       return frame != nullptr ? Value(std::string_view(r.recording.names[frame->function])) : Value();
     }},
    {"file", ColumnType::kText,
     [](const SampleRow& r) -> Value {
       const trace::Frame* const frame = frame_of(r);
       return frame != nullptr ? Value(std::string_view(r.recording.names[frame->file])) : Value();
     }},
    {"line", ColumnType::kInteger,
     [](const SampleRow& r) -> Value {
       const trace::Frame* const frame = frame_of(r);
       return frame != nullptr ? Value(std::int64_t{frame->line}) : Value();
     }},
    {"stack", ColumnType::kText, [](const SampleRow& r) -> Value { return stack_of(r); }},
});

}  // namespace

std::vector<EfficiencyRow> efficiency_rows(const analyze::Efficiency& efficiency) {
  std::vector<EfficiencyRow> rows;
  for (const analyze::WorkAtLimit& row : efficiency.ops) rows.push_back({"op", row});
  for (const analyze::WorkAtLimit& row : efficiency.kernels) rows.push_back({"kernel", row});
  for (const analyze::WorkAtLimit& row : efficiency.modules) rows.push_back({"module", row});
  return rows;
}

std::span<const TabularColumn<Average>> average_columns() { return kAverageColumns; }
std::span<const TabularColumn<EventRow>> event_columns() { return kEventColumns; }
std::span<const TabularColumn<CounterRow>> counter_columns() { return kCounterColumns; }
std::span<const TabularColumn<EfficiencyRow>> efficiency_columns() { return kEfficiencyColumns; }
std::span<const TabularColumn<analyze::Step>> step_columns() { return kStepColumns; }
std::span<const TabularColumn<SampleRow>> sample_columns() { return kSampleColumns; }

}  // namespace mindtorch::exporter

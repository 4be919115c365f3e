// JSON and CSV from one list of columns each, so that both always say the same.
#include "mindtorch/export/tabular/tabular.h"

#include <fmt/core.h>

#include <array>
#include <optional>

#include "mindtorch/base/text.h"
#include "mindtorch/export/tabular/tabular_text.h"
#include "mindtorch/trace/text.h"

namespace mindtorch::exporter {
namespace {

using analyze::Average;
using analyze::Events;
using analyze::KeyAverages;
using analyze::MemorySpan;
using analyze::shapes_text;

Value texts(const std::vector<std::string>& list) {
  std::string out = "[";
  for (const std::string& text : list) out += (out.size() > 1 ? "," : "") + json_quoted(text);
  return Json{out + "]"};
}

Value device_name(const std::optional<trace::Device>& device) {
  if (!device) return std::monostate();
  return device->type == trace::DeviceType::kCpu ? std::string("CPU")
                                                 : fmt::format("{}:{}", trace::device_type_name(device->type), device->index);
}

std::string losses_json(const std::vector<trace::Loss>& losses) {
  std::string out = "[";
  for (const trace::Loss& loss : losses) out += (out.size() > 1 ? "," : "") + trace::loss_json(loss);
  return out + "]";
}

constexpr auto kAverageColumns = std::to_array<TabularColumn<Average>>({
    {"key", [](const Average& a) -> Value { return a.key; }},
    {"overload_name", [](const Average& a) -> Value { return a.overload_name; }},
    {"device_type", [](const Average& a) -> Value { return std::string(trace::device_type_name(a.device_type)); }},
    {"op_device", [](const Average& a) { return device_name(a.op_device); }},
    {"count", [](const Average& a) -> Value { return a.count; }},
    {"self_cpu_time_total", [](const Average& a) -> Value { return Time{a.self_cpu_time_total_ns}; }},
    {"cpu_time_total", [](const Average& a) -> Value { return Time{a.cpu_time_total_ns}; }},
    {"cpu_time", [](const Average& a) -> Value { return a.cpu_time(); }},
    {"self_device_time_total", [](const Average& a) -> Value { return Time{a.self_device_time_total_ns}; }},
    {"device_time_total", [](const Average& a) -> Value { return Time{a.device_time_total_ns}; }},
    {"device_time", [](const Average& a) -> Value { return a.device_time(); }},
    {"self_cpu_memory_usage", [](const Average& a) -> Value { return a.self_cpu_memory_usage; }},
    {"cpu_memory_usage", [](const Average& a) -> Value { return a.cpu_memory_usage; }},
    {"self_device_memory_usage", [](const Average& a) -> Value { return a.self_device_memory_usage; }},
    {"device_memory_usage", [](const Average& a) -> Value { return a.device_memory_usage; }},
    {"flops", [](const Average& a) -> Value { return a.flops; }},
    {"input_shapes", [](const Average& a) -> Value { return a.input_shapes ? Value(Json{shapes_text(*a.input_shapes)}) : Value(); }},
    {"stack", [](const Average& a) -> Value { return a.stack.empty() ? Value() : texts(a.stack); }},
    {"scope", [](const Average& a) -> Value { return std::int64_t{a.scope}; }},
    {"is_async", [](const Average& a) -> Value { return a.is_async; }},
    {"is_user_annotation", [](const Average& a) -> Value { return a.is_user_annotation; }},
});

// An event and what was recorded with it.
struct EventRow {
  analyze::FunctionEvent event;
  const trace::RecordedOptions& options;
};

template <std::int64_t MemorySpan::*Member>
Value memory_value(const EventRow& row) {
  const auto span = row.event.memory_span();
  return span ? Value((*span).*Member) : Value();
}

constexpr auto kEventColumns = std::to_array<TabularColumn<EventRow>>({
    {"id", [](const EventRow& r) -> Value { return r.event.id(); }},
    {"name", [](const EventRow& r) -> Value { return std::string(r.event.trace_name()); }},
    {"kind", [](const EventRow& r) -> Value { return std::string(r.event.kind_name()); }},
    {"device_type", [](const EventRow& r) -> Value { return std::string(trace::device_type_name(r.event.device_type())); }},
    {"op_device", [](const EventRow& r) { return device_name(r.event.op_device()); }},
    {"step", [](const EventRow& r) -> Value { return r.event.step(); }},
    {"start_ns", [](const EventRow& r) -> Value { return r.event.start_ns(); }},
    {"duration_ns", [](const EventRow& r) -> Value { return r.event.duration_ns(); }},
    {"thread", [](const EventRow& r) -> Value { return std::int64_t{r.event.thread()}; }},
    {"thread_id", [](const EventRow& r) -> Value { return r.event.thread_id(); }},
    {"sequence_nr", [](const EventRow& r) -> Value { return r.event.sequence_nr(); }},
    {"parent_id",
     [](const EventRow& r) -> Value {
       const auto p = r.event.cpu_parent();
       return p ? Value(p->id()) : Value();
     }},
    {"self_cpu_time_ns", [](const EventRow& r) -> Value { return r.event.self_cpu_time_total_ns(); }},
    {"device_time_ns", [](const EventRow& r) -> Value { return r.event.device_time_total_ns(); }},
    {"self_device_time_ns", [](const EventRow& r) -> Value { return r.event.self_device_time_total_ns(); }},
    {"memory_allocated_before", memory_value<&MemorySpan::before>},
    {"memory_allocated_after", memory_value<&MemorySpan::after>},
    {"flops", [](const EventRow& r) -> Value { return r.options.flops ? Value(r.event.flops()) : Value(); }},
    {"input_shapes", [](const EventRow& r) -> Value { return r.options.shapes ? Value(Json{shapes_text(r.event.shapes())}) : Value(); }},
    {"stack", [](const EventRow& r) -> Value { return r.options.stacks ? texts(r.event.stack()) : Value(); }},
    {"is_async", [](const EventRow& r) -> Value { return r.event.is_async(); }},
});

constexpr std::span<const TabularColumn<Average>> kAverages(kAverageColumns);
constexpr std::span<const TabularColumn<EventRow>> kEvents(kEventColumns);

template <class Write>
std::string whole(Write write) {
  std::string text;
  write([&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace

void write_averages_json(const KeyAverages& averages, const TextSink& sink) {
  PieceWriter out(sink);
  out.text() += "{\"rows\":[";
  for (const Average& row : averages.rows) {
    std::string& text = out.text();
    if (&row != averages.rows.data()) text += ",\n";
    append_object(text, kAverages, row);
  }
  out.text() += "],\n\"total\":";
  append_object(out.text(), kAverages, averages.total_average());
  out.text() += ",\n\"losses\":" + losses_json(averages.context.losses) + "}\n";
  out.flush();
}

void write_averages_csv(const KeyAverages& averages, const TextSink& sink) {
  PieceWriter out(sink);
  append_names(out.text(), kAverages);
  for (const Average& row : averages.rows) append_values(out.text(), kAverages, row);
  out.flush();
}

void write_events_json(const Events& events, const TextSink& sink) {
  const trace::Recording& recording = events.analysis().recording();
  PieceWriter out(sink);
  out.text() += "{\"events\":[";
  for (std::size_t i = 0; i < events.size(); ++i) {
    std::string& text = out.text();
    if (i > 0) text += ",\n";
    append_object(text, kEvents, EventRow{events[i], recording.options});
  }
  out.text() += "],\n\"losses\":" + losses_json(recording.losses) + "}\n";
  out.flush();
}

void write_events_csv(const Events& events, const TextSink& sink) {
  PieceWriter out(sink);
  append_names(out.text(), kEvents);
  for (std::size_t i = 0; i < events.size(); ++i)
    append_values(out.text(), kEvents, EventRow{events[i], events.analysis().recording().options});
  out.flush();
}

std::string averages_json(const KeyAverages& averages) {
  return whole([&](const TextSink& sink) { write_averages_json(averages, sink); });
}
std::string averages_csv(const KeyAverages& averages) {
  return whole([&](const TextSink& sink) { write_averages_csv(averages, sink); });
}
std::string events_json(const Events& events) {
  return whole([&](const TextSink& sink) { write_events_json(events, sink); });
}
std::string events_csv(const Events& events) {
  return whole([&](const TextSink& sink) { write_events_csv(events, sink); });
}

}  // namespace mindtorch::exporter

// JSON and CSV from one list of columns each, so that both always say the same.
#include "mindtorch/analyze/tabular.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <optional>
#include <variant>

#include "mindtorch/base/text.h"

namespace mindtorch::analyze {
namespace {

// A time as a decimal number of microseconds, exact.
struct Time {
  std::int64_t ns;
};

// Nothing, a number, a text, or something that is JSON in both formats.
struct Json {
  std::string text;
};
using Value = std::variant<std::monostate, std::int64_t, double, bool, Time, std::string, Json>;

template <class Row>
struct Column {
  std::string_view name;
  Value (*read)(const Row&);
};

// Gathers text and hands it on in pieces; what is left goes with flush().
class PieceWriter {
 public:
  explicit PieceWriter(const TextSink& sink) : sink_(sink) {}
  std::string& text() {
    if (piece_.size() >= kPiece) flush();
    return piece_;
  }
  void flush() {
    sink_(piece_);
    piece_.clear();
  }

 private:
  static constexpr std::size_t kPiece = 1 << 16;
  const TextSink& sink_;
  std::string piece_;
};

void append_time(std::string& out, Time time) {
  const std::uint64_t ns = time.ns < 0 ? -static_cast<std::uint64_t>(time.ns) : static_cast<std::uint64_t>(time.ns);
  fmt::format_to(std::back_inserter(out), "{}{}.{:03}", time.ns < 0 ? "-" : "", ns / 1000, ns % 1000);
}

void append_json(std::string& out, const Value& value) {
  switch (value.index()) {
    case 0: out += "null"; break;
    case 1: fmt::format_to(std::back_inserter(out), "{}", std::get<std::int64_t>(value)); break;
    case 2: fmt::format_to(std::back_inserter(out), "{}", std::get<double>(value)); break;
    case 3: out += std::get<bool>(value) ? "true" : "false"; break;
    case 4: append_time(out, std::get<Time>(value)); break;
    case 5: out += json_quoted(std::get<std::string>(value)); break;
    default: out += std::get<Json>(value).text; break;
  }
}

void append_csv_text(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) {
    out += text;
    return;
  }
  out.push_back('"');
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  out.push_back('"');
}

void append_csv(std::string& out, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    append_csv_text(out, valid_utf8(*text));
  } else if (const auto* json = std::get_if<Json>(&value)) {
    append_csv_text(out, json->text);
  } else if (value.index() != 0) {
    append_json(out, value);
  }
}

template <class Row>
void append_object(std::string& out, std::span<const Column<Row>> columns, const Row& row) {
  char separator = '{';
  for (const Column<Row>& column : columns) {
    const Value value = column.read(row);
    if (value.index() == 0) continue;
    out.push_back(separator);
    separator = ',';
    fmt::format_to(std::back_inserter(out), "\"{}\":", column.name);
    append_json(out, value);
  }
  out += separator == '{' ? "{}" : "}";
}

template <class Row>
void append_header(std::string& out, std::span<const Column<Row>> columns) {
  for (const Column<Row>& column : columns) out.append(&column == columns.data() ? "" : ",").append(column.name);
  out += "\r\n";
}

template <class Row>
void append_line(std::string& out, std::span<const Column<Row>> columns, const Row& row) {
  for (const Column<Row>& column : columns) {
    if (&column != columns.data()) out.push_back(',');
    append_csv(out, column.read(row));
  }
  out += "\r\n";
}

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
  for (const trace::Loss& loss : losses) {
    fmt::format_to(std::back_inserter(out), "{}{{\"reason\":\"{}\",\"count\":{},\"where\":{},\"detail\":{}}}", out.size() > 1 ? "," : "",
                   trace::loss_reason_name(loss.reason), loss.count, json_quoted(loss.where), json_quoted(loss.detail));
  }
  return out + "]";
}

constexpr auto kAverageColumns = std::to_array<Column<Average>>({
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
  FunctionEvent event;
  const trace::RecordedOptions& options;
};

template <std::int64_t MemorySpan::*field>
Value memory_value(const EventRow& row) {
  const auto span = row.event.memory_span();
  return span ? Value((*span).*field) : Value();
}

constexpr auto kEventColumns = std::to_array<Column<EventRow>>({
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

constexpr std::span<const Column<Average>> kAverages(kAverageColumns);
constexpr std::span<const Column<EventRow>> kEvents(kEventColumns);

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
  append_header(out.text(), kAverages);
  for (const Average& row : averages.rows) append_line(out.text(), kAverages, row);
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
  append_header(out.text(), kEvents);
  for (std::size_t i = 0; i < events.size(); ++i)
    append_line(out.text(), kEvents, EventRow{events[i], events.analysis().recording().options});
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

}  // namespace mindtorch::analyze

// Prints our tables of rows or events described on standard input, for test_table_parity.py and test_tabular.py.
//
// One thing a line, fields separated by tabs; "\t", "\n" and "\\" inside a field are escaped:
//   options   any of: memory flops shapes stacks npu
//   thread                                                   adds a thread
//   stream                                                   adds a stream of npu:0
//   event     kind track start duration link flags name      kind and flags as numbers
//   shapes    2x3;4;-                                        of the last event: tensors, and - for anything else
//   overload  name                                           of the last event
//   stack     file line function ...                         of the last event, innermost first
//   memory    time track device bytes                        device: cpu or npu
//   row       name=value ...                                 a row of averages instead of events
//   table     name=value ...                                 options of the table; prints it and a line with a form feed
//   tabular   averages|events json|csv                       prints that and a line with a form feed
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "mindtorch/analyze/events.h"
#include "mindtorch/analyze/key_averages.h"
#include "mindtorch/base/error.h"
#include "mindtorch/export/tabular/tabular.h"
#include "mindtorch/trace/builder.h"

namespace mindtorch::analyze {
namespace {

using Fields = std::vector<std::string>;

Fields split(const std::string& line, char separator) {
  Fields fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, separator);) fields.push_back(field);
  return fields;
}

std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && ++i < text.size()) {
      out.push_back(text[i] == 't' ? '\t' : text[i] == 'n' ? '\n' : text[i]);
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

Shapes parse_shapes(const std::string& text) {
  Shapes shapes;
  for (const std::string& argument : split(text, ';')) {
    shapes.emplace_back();
    if (argument == "-" || argument == "s") continue;  // not a tensor, a tensor without dimensions
    for (const std::string& size : split(argument, 'x')) shapes.back().push_back(std::stoll(size));
  }
  return shapes;
}

// The "name=value" fields of a line.
class Settings {
 public:
  explicit Settings(const Fields& fields) {
    for (std::size_t i = 1; i < fields.size(); ++i) {
      const std::size_t equals = fields[i].find('=');
      values_.emplace_back(fields[i].substr(0, equals), unescaped(fields[i].substr(equals + 1)));
    }
  }
  const std::string* find(std::string_view name) const {
    for (const auto& [key, value] : values_) {
      if (key == name) return &value;
    }
    return nullptr;
  }
  std::int64_t number(std::string_view name, std::int64_t otherwise = 0) const {
    const std::string* value = find(name);
    return value == nullptr ? otherwise : std::stoll(*value);
  }
  std::string text(std::string_view name) const { return find(name) == nullptr ? "" : *find(name); }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

class Tool {
 public:
  void line(const std::string& text) {
    const Fields fields = split(text, '\t');
    if (fields.empty()) return;
    const std::string& what = fields[0];
    if (what == "options") return options(fields);
    if (what == "thread") return static_cast<void>(builder_.add_thread(1));
    if (what == "stream") return static_cast<void>(builder_.add_stream({trace::DeviceType::kNpu, 0}, 7));
    if (what == "event") return event(fields);
    if (what == "shapes") return shapes(fields.at(1));
    if (what == "overload") return builder_.add_attribute(last_, "overload_name", std::string_view(fields.at(1)));
    if (what == "stack") return stack(fields);
    if (what == "memory") return memory(fields);
    if (what == "row") return row(Settings(fields));
    if (what == "table") return table(Settings(fields));
    if (what == "tabular") return tabular(fields.at(1) == "events", fields.at(2) == "json");
    throw std::runtime_error("unknown line: " + text);
  }

 private:
  void options(const Fields& fields) {
    trace::RecordedOptions& options = builder_.recording().options;
    options.activities = {trace::DeviceType::kCpu};
    for (const std::string& name : fields) {
      options.memory |= name == "memory";
      options.flops |= name == "flops";
      options.shapes |= name == "shapes";
      options.stacks |= name == "stacks";
      if (name == "npu") options.activities.push_back(trace::DeviceType::kNpu);
    }
    context_.profile_memory = options.memory;
    context_.with_flops = options.flops;
  }

  void event(const Fields& f) {
    const auto kind = static_cast<trace::EventKind>(std::stoi(f.at(1)));
    const trace::Device device{trace::is_device_kind(kind) ? trace::DeviceType::kNpu : trace::DeviceType::kCpu, 0};
    last_ = builder_.add_event({.name = name_ = unescaped(f.at(7)),
                                .kind = kind,
                                .track = static_cast<trace::TrackId>(std::stoul(f.at(2))),
                                .start_ns = std::stoll(f.at(3)),
                                .duration_ns = std::stoll(f.at(4)),
                                .link = std::stoull(f.at(5)),
                                .device = device,
                                .flags = static_cast<std::uint8_t>(std::stoul(f.at(6)))});
  }

  void shapes(const std::string& text) {
    std::vector<trace::Input> inputs;
    const Fields arguments = split(text, ';');
    const Shapes sizes = parse_shapes(text);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto kind = arguments[i] == "-" ? trace::Input::Kind::kInt : trace::Input::Kind::kTensor;
      inputs.push_back({.kind = kind,
                        .dtype = trace::ScalarType::kFloat,
                        .sizes = kind == trace::Input::Kind::kInt ? std::vector<std::int64_t>() : sizes[i]});
    }
    builder_.set_inputs(last_, inputs);
  }

  void stack(const Fields& f) {
    std::vector<trace::Frame> frames;
    for (std::size_t i = 1; i + 2 < f.size(); i += 3)
      frames.push_back({builder_.intern(f[i]), builder_.intern(f[i + 2]), std::stoi(f[i + 1])});
    builder_.set_stack(last_, frames);
  }

  void memory(const Fields& f) {
    const trace::Device device{f.at(3) == "npu" ? trace::DeviceType::kNpu : trace::DeviceType::kCpu, 0};
    builder_.add_memory(std::stoll(f.at(1)), static_cast<trace::TrackId>(std::stoul(f.at(2))), device, 1, std::stoll(f.at(4)), 0, 0);
  }

  void row(const Settings& s) {
    Average a;
    a.key = s.text("key");
    a.count = s.number("count");
    a.cpu_time_total_ns = s.number("cpu_time_total_ns");
    a.self_cpu_time_total_ns = s.number("self_cpu_time_total_ns");
    a.device_time_total_ns = s.number("device_time_total_ns");
    a.self_device_time_total_ns = s.number("self_device_time_total_ns");
    a.cpu_memory_usage = s.number("cpu_memory_usage");
    a.self_cpu_memory_usage = s.number("self_cpu_memory_usage");
    a.device_memory_usage = s.number("device_memory_usage");
    a.self_device_memory_usage = s.number("self_device_memory_usage");
    a.flops = s.number("flops");
    a.node_id = static_cast<int>(s.number("node_id", -1));
    a.is_async = s.number("is_async") != 0;
    a.is_user_annotation = s.number("is_user_annotation") != 0;
    a.device_type = s.number("is_device") != 0 ? trace::DeviceType::kNpu : trace::DeviceType::kCpu;
    a.parent = s.number("has_parent") != 0 ? 0 : kNoEvent;
    a.use_device = s.text("use_device");
    a.overload_name = s.text("overload_name");
    if (const std::string* shapes = s.find("input_shapes")) a.input_shapes = parse_shapes(*shapes);
    a.stack = split(s.text("stack"), '|');
    rows_.push_back(a);
  }

  static std::optional<std::int64_t> width(const Settings& s, std::string_view name, std::int64_t otherwise) {
    if (s.text(name) == "none") return std::nullopt;
    return s.number(name, otherwise);
  }

  void table(const Settings& s) {
    TableOptions options{.sort_by = s.text("sort_by"),
                         .row_limit = s.number("row_limit", 100),
                         .max_src_column_width = width(s, "max_src_column_width", 75),
                         .max_name_column_width = width(s, "max_name_column_width", 55),
                         .max_shapes_column_width = width(s, "max_shapes_column_width", 80),
                         .top_level_events_only = s.number("top_level_events_only") != 0,
                         .time_unit = s.text("time_unit")};
    if (s.find("header") != nullptr) options.header = s.text("header");
    try {
      std::cout << text(s, options) << "\f\n";
    } catch (const Error& error) {
      std::cout << "error: " << error.what() << "\n\f\n";
    }
  }

  std::string text(const Settings& s, const TableOptions& options) {
    if (!rows_.empty()) return analyze::table(rows_, context_, options);
    if (s.number("events") != 0) return analysis().events().table(options);
    const GroupOptions group{s.number("group_by_input_shape") != 0, s.number("group_by_stack_n"), s.number("group_by_overload_name") != 0};
    return key_averages(analysis(), group).table(options);
  }

  void tabular(bool events, bool json) {
    const KeyAverages averages = key_averages(analysis(), {.group_by_input_shape = true, .group_by_stack_n = 2});
    if (events) {
      std::cout << (json ? exporter::events_json(analysis().events()) : exporter::events_csv(analysis().events()));
    } else {
      std::cout << (json ? exporter::averages_json(averages) : exporter::averages_csv(averages));
    }
    std::cout << "\f\n";
  }

  // What was described so far, final from the first question on.
  const Analysis& analysis() {
    if (!analysis_) {
      recording_ = builder_.finish();
      analysis_ = std::make_unique<Analysis>(recording_);
    }
    return *analysis_;
  }

  trace::RecordingBuilder builder_;
  trace::RecordingBuilder::DraftId last_ = 0;
  std::string name_;
  trace::Recording recording_;
  std::unique_ptr<Analysis> analysis_;
  std::vector<Average> rows_;
  TableContext context_;
};

}  // namespace
}  // namespace mindtorch::analyze

int main() {
  mindtorch::analyze::Tool tool;
  for (std::string line; std::getline(std::cin, line);) tool.line(line);
}

// Reads the attributes of events made by hand.
#include "python/src/profiler/hand_made_event.h"

#include <fmt/format.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <string>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/base/text.h"
#include "python/src/profiler/conversions.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

template <class T>
T value_of(nb::handle event, const char* name) {
  return attribute<T>(event, name, "an event");
}
template <class T>
T value_or(nb::handle event, const char* name, T otherwise) {
  return event.attr(name).is_none() ? std::move(otherwise) : value_of<T>(event, name);
}

double microseconds(nb::handle event, const char* name) { return value_of<double>(event, name); }
std::int64_t nanoseconds(nb::handle event, const char* name) { return std::llround(microseconds(event, name) * 1000.0); }

std::optional<analyze::Shapes> shapes(nb::handle event) {
  const nb::object given = event.attr("input_shapes");
  if (given.is_none()) return std::nullopt;
  analyze::Shapes shapes;
  if (!nb::try_cast(given, shapes))
    throw_error<InvalidArgument>("profiler.input_shapes", "expected a list of lists of sizes, got {}", repr_of(given));
  return shapes;
}

// A call inside another of the same name is part of it.
bool is_outermost(nb::handle event) {
  const nb::object name = event.attr("name");
  for (nb::object around = event.attr("cpu_parent"); !around.is_none(); around = around.attr("cpu_parent"))
    if (around.attr("name").equal(name)) return false;
  return true;
}

void read_times(nb::handle event, analyze::Average& row) {
  row.cpu_time_total_ns = nanoseconds(event, "cpu_time_total");
  row.self_cpu_time_total_ns = nanoseconds(event, "self_cpu_time_total");
  row.device_time_total_ns = nanoseconds(event, "device_time_total");
  row.self_device_time_total_ns = nanoseconds(event, "self_device_time_total");
  if (is_outermost(event)) row.outermost_cpu_time_ns = row.cpu_time_total_ns;
}

void read_memory(nb::handle event, analyze::Average& row) {
  row.cpu_memory_usage = value_of<std::int64_t>(event, "cpu_memory_usage");
  row.self_cpu_memory_usage = value_of<std::int64_t>(event, "self_cpu_memory_usage");
  row.device_memory_usage = value_of<std::int64_t>(event, "device_memory_usage");
  row.self_device_memory_usage = value_of<std::int64_t>(event, "self_device_memory_usage");
}

}  // namespace

bool is_hand_made(nb::handle item) { return nb::isinstance(item, imported("mindtorch_v2.events.function_event", "FunctionEvent")); }

bool is_true(nb::handle event, const char* name) {
  const int truth = PyObject_IsTrue(nb::object(event.attr(name)).ptr());
  if (truth < 0) throw nb::python_error();
  return truth == 1;
}

trace::DeviceType device_type_of(nb::handle event) {
  return static_cast<trace::DeviceType>(nb::cast<int>(event.attr("device_type").attr("value")));
}

analyze::Average hand_made_row(nb::handle event) {
  analyze::Average row;
  row.key = value_of<std::string>(event, "key");
  row.count = value_of<std::int64_t>(event, "count");
  read_times(event, row);
  read_memory(event, row);
  row.flops = value_or<std::int64_t>(event, "flops", 0);
  row.input_shapes = shapes(event);
  row.stack = value_or<std::vector<std::string>>(event, "stack", {});
  row.overload_name = value_or<std::string>(event, "overload_name", "");
  row.device_type = device_type_of(event);
  row.use_device = value_or<std::string>(event, "use_device", "");
  row.scope = value_of<int>(event, "scope");
  row.node_id = value_of<int>(event, "node_id");
  row.is_async = is_true(event, "is_async");
  row.is_remote = is_true(event, "is_remote");
  row.is_legacy = is_true(event, "is_legacy");
  row.is_user_annotation = is_true(event, "is_user_annotation");
  row.parent = event.attr("cpu_parent").is_none() ? analyze::kNoEvent : 0;
  return row;
}

std::optional<exporter::ListedEvent> hand_made_listed(nb::handle event) {
  const nb::object name = event.attr("trace_name");
  if (name.is_none()) return std::nullopt;
  const nb::object range = event.attr("time_range");
  auto thread = std::to_string(value_of<std::int64_t>(event, "thread"));
  if (is_true(event, "is_remote"))
    thread = json_quoted(fmt::format(" node_id:{}, thread_id:{} ", value_of<std::int64_t>(event, "node_id"), thread));
  return exporter::ListedEvent{.name = value_of<std::string>(event, "trace_name"),
                               .start_us = microseconds(range, "start"),
                               .duration_us = nb::cast<double>(range.attr("elapsed_us")()),
                               .thread = std::move(thread),
                               .kernels = nb::len(nb::object(event.attr("kernels")))};
}

}  // namespace mindtorch::python

// FunctionEvent in Python: torch's attributes and a read-only mapping.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mindtorch/analyze/copy_bandwidth.h"
#include "mindtorch/base/error.h"
#include "mindtorch/export/flows.h"
#include "mindtorch/export/input_text.h"
#include "mindtorch/trace/chrome_format.h"
#include "mindtorch/trace/inputs.h"
#include "python/src/gil.h"
#include "python/src/profiler/added_attributes.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/conversions.h"
#include "python/src/profiler/event_handle.h"
#include "python/src/profiler/formatted_times.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

using trace::Attribute;
using trace::Input;

nb::object value_of(const Input& input, const std::vector<std::string>& names) {
  switch (input.kind) {
    case Input::Kind::kInt: return nb::int_(input.integer);
    case Input::Kind::kBool: return nb::bool_(input.integer != 0);
    case Input::Kind::kDouble: return nb::float_(input.real);
    case Input::Kind::kText: return to_text(names[input.text]);
    case Input::Kind::kIntList: return to_python(input.sizes);
    case Input::Kind::kBoolList: {
      nb::list list;
      for (const std::int64_t value : input.sizes) list.append(nb::bool_(value != 0));
      return list;
    }
    case Input::Kind::kDoubleList: {
      nb::list list;
      for (const double real : input.reals) list.append(nb::float_(real));
      return list;
    }
    default: return nb::none();
  }
}

nb::object value_of(const Attribute& attribute, const std::vector<std::string>& names) {
  const auto text = [&] { return to_text(names[static_cast<std::size_t>(attribute.bits)]); };
  switch (attribute.type) {
    case Attribute::Type::kInt: return nb::int_(attribute.bits);
    case Attribute::Type::kBool: return nb::bool_(attribute.bits != 0);
    case Attribute::Type::kDouble: return nb::float_(std::bit_cast<double>(attribute.bits));
    case Attribute::Type::kText: return text();
    case Attribute::Type::kJson: return imported("json", "loads")(text());
  }
  return nb::none();
}

// One item per argument: the value of a scalar, a text or a list of numbers; None for tensors and anything else.
nb::list concrete_inputs(const EventHandle& handle) {
  nb::list list;
  for (const Input& input : handle.event.inputs()) list.append(value_of(input, handle.recording().names));
  return list;
}

// torch's name of the type of each argument: "float", "Scalar", "TensorList", "".
nb::list input_types(const EventHandle& handle) {
  nb::list list;
  for (const Input& input : handle.event.inputs()) list.append(to_text(exporter::input_type_name(input)));
  return list;
}

// The attributes of the event: {"bytes": 1024, "grid": [1, 1, 1]}.
nb::dict attributes(const EventHandle& handle) {
  nb::dict dict;
  if (handle.event.index() == analyze::kNoEvent) return dict;
  const trace::Recording& recording = handle.recording();
  const std::span<const Attribute> recorded = recording.attributes.find(handle.event.index());
  for (const Attribute& attribute : recorded) dict[to_text(recording.names[attribute.key])] = value_of(attribute, recording.names);
  if (const auto bandwidth = analyze::copy_bandwidth(recording, handle.event.index(), recorded))
    dict[to_text(trace::chrome_format::argument::kMemoryBandwidth)] = *bandwidth;
  return dict;
}

// The correlation id of a launch and of the device activity that it started; 0 for other events.
std::int64_t correlation_of(const EventHandle& handle) {
  const trace::EventKind kind = handle.event.kind();
  const bool linked = handle.event.index() != analyze::kNoEvent && (trace::is_device_kind(kind) || trace::is_launch_kind(kind));
  return linked ? static_cast<std::int64_t>(handle.recording().events.link[handle.event.index()]) : 0;
}

// One end of an arrow of a trace (torch: flow_id, flow_type, flow_start). All zero: the event has no arrow.
struct FlowEnd {
  std::uint64_t id = 0;  // as in the trace
  int type = 0;          // torch's number: 1 from a forward op to its backward node, 2 from a launch to what it started
  bool starts = false;
};

using Ends = std::unordered_map<analyze::EventIndex, FlowEnd>;

void add(Ends& ends, const std::vector<exporter::Flow>& flows, int type) {
  for (const exporter::Flow& flow : flows) {
    ends[flow.from] = {flow.id, type, true};
    ends[flow.to] = {flow.id, type, false};
  }
}

Ends find_ends(const analyze::Analysis& analysis) {
  Ends ends;
  add(ends, exporter::forward_backward_flows(analysis.recording()), 1);
  add(ends, exporter::launch_flows(analysis), 2);
  return ends;
}

struct Answers {
  std::weak_ptr<const analyze::Analysis> analysis;
  Ends ends;
};

const Ends& ends_of(const std::shared_ptr<const analyze::Analysis>& analysis) {
  static auto& last = *new Answers();
  if (last.analysis.lock() == analysis) return last.ends;
  Answers found{analysis, {}};
  {
    const ReleasedGil unlocked;
    found.ends = find_ends(*analysis);
  }
  last = std::move(found);
  return last.ends;
}

// Needs the GIL. The first question about a recording is O(events); the answers for the last recording asked about are kept.
FlowEnd flow_of(const EventHandle& handle) {
  const Ends& ends = ends_of(handle.analysis);
  const auto at = ends.find(handle.event.index());
  return at == ends.end() ? FlowEnd{} : at->second;
}

using analyze::FunctionEvent;
using Class = nb::class_<EventHandle>;

constexpr double us(std::int64_t ns) { return static_cast<double>(ns) / 1000.0; }

struct Times {
  static double cpu_time(const EventHandle& h) { return us(h.event.cpu_time_total_ns()); }
  static double device_time(const EventHandle& h) { return us(h.event.device_time_total_ns()); }
  static double cpu_time_total(const EventHandle& h) { return us(h.event.cpu_time_total_ns()); }
  static double device_time_total(const EventHandle& h) { return us(h.event.device_time_total_ns()); }
  static double self_cpu_time_total(const EventHandle& h) { return us(h.event.self_cpu_time_total_ns()); }
  static double self_device_time_total(const EventHandle& h) { return us(h.event.self_device_time_total_ns()); }
};

nb::object use_device(const EventHandle& handle) {
  const std::string& device = handle.analysis->use_device();
  return device.empty() ? nb::none() : nb::object(to_text(device));
}

nb::object time_range(const EventHandle& handle) {
  return imported("mindtorch_v2.events.function_event", "Interval")(handle.event.start_us(), handle.event.end_us());
}

nb::list children(const EventHandle& handle) {
  nb::list list;
  for (const FunctionEvent& child : handle.event.cpu_children()) list.append(handle.other(child));
  return list;
}

nb::list kernels(const EventHandle& handle) {
  const nb::object kernel = imported("mindtorch_v2.events.function_event", "Kernel");
  nb::list list;
  for (const analyze::Kernel& launched : handle.event.kernels())
    list.append(kernel(to_text(launched.name), launched.device, us(launched.duration_ns)));
  return list;
}

// From "file:line:function", which the mapping has, to torch's "file(line): function".
std::vector<std::string> torch_frames(std::vector<std::string> stack) {
  for (std::string& frame : stack) {
    const std::size_t function = frame.rfind(':');
    const std::size_t line = function == frame.npos || function == 0 ? frame.npos : frame.rfind(':', function - 1);
    if (line == frame.npos) continue;
    frame = fmt::format("{}({}): {}", frame.substr(0, line), frame.substr(line + 1, function - line - 1), frame.substr(function + 1));
  }
  return stack;
}

// The keyword values of an op that generated code runs, or the text of a scope.
nb::dict keyword_inputs(const EventHandle& handle) {
  const trace::EventKind kind = handle.event.kind();
  if (kind != trace::EventKind::kOp && !handle.event.is_user_annotation()) return {};
  nb::dict values = attributes(handle);
  values.attr("pop")("overload_name", nb::none());
  return values;
}

// "Ev Idx" of the event in a Chrome trace.
std::int64_t index_in_trace(const EventHandle& handle) {
  return handle.event.id() - static_cast<std::int64_t>(handle.recording().first_id);
}

std::string activity_type(const EventHandle& handle) {
  return std::string(trace::chrome_format::category(handle.event.kind(), handle.event.device().type));
}

std::string describe(const EventHandle& handle) {
  const FunctionEvent& event = handle.event;
  std::vector<std::int64_t> child_ids;
  for (const FunctionEvent& child : event.cpu_children()) child_ids.push_back(child.id());
  const std::string device = handle.analysis->use_device().empty() ? "device" : handle.analysis->use_device();
  return fmt::format(
      "<FunctionEvent id={} name={} overload_name={} device_type=DeviceType.{} node_id=-1 cpu_time={} start_us={} end_us={} "
      "cpu_children=[{}] {}_time={} name={} thread={} input_shapes={} cpu_memory_usage={} {}_memory_usage={} is_async={} is_remote=False "
      "seq_nr={} is_legacy=False>",
      event.id(), event.name(), event.overload_name(), trace::device_type_name(event.device_type()),
      analyze::format_time(Times::cpu_time(handle)), event.start_us(), event.end_us(), fmt::join(child_ids, ", "), device,
      analyze::format_time(Times::device_time(handle)), event.name(), event.thread(), analyze::shapes_text(event.shapes()),
      event.memory_usage().cpu, device, event.memory_usage().device, event.is_async() ? "True" : "False", event.sequence_nr());
}

void def_identity(Class& type) {
  type.def_prop_ro("id", [](const EventHandle& h) { return h.event.id(); })
      .def_prop_ro("name", [](const EventHandle& h) { return to_text(h.event.name()); })
      .def_prop_ro("key", [](const EventHandle& h) { return to_text(h.event.name()); })
      .def_prop_ro("trace_name", [](const EventHandle& h) { return to_text(h.event.trace_name()); })
      .def_prop_ro("overload_name", [](const EventHandle& h) { return to_text(h.event.overload_name()); })
      .def_prop_ro("kind", [](const EventHandle& h) { return to_text(h.event.kind_name()); })
      .def_prop_ro("activity_type", [](const EventHandle& h) { return to_text(activity_type(h)); })
      .def_prop_ro("scope", [](const EventHandle& h) { return h.event.scope(); })
      .def_prop_ro("is_async", [](const EventHandle& h) { return h.event.is_async(); })
      .def_prop_ro("is_user_annotation", [](const EventHandle& h) { return h.event.is_user_annotation(); })
      .def_prop_ro("is_python_function",
                   [](const EventHandle& h) {
                     const trace::EventKind kind = h.event.kind();
                     return kind == trace::EventKind::kPythonFunction || kind == trace::EventKind::kModule;
                   })
      .def_prop_ro("count", [](const EventHandle&) { return 1; })
      .def_prop_ro("external_id", [](const EventHandle& h) { return h.event.id(); })
      .def_prop_ro("sequence_nr", [](const EventHandle& h) { return h.event.sequence_nr(); })
      .def_prop_ro("step", [](const EventHandle& h) { return h.event.step(); });
}

// What torch has for distributed, legacy and TorchScript runs, which do not exist here.
void def_constants(Class& type) {
  for (const char* name : {"is_remote", "is_legacy"}) type.def_prop_ro(name, [](const EventHandle&) { return false; });
  for (const char* name :
       {"node_id", "python_id", "python_parent_id", "python_module_id", "self_cpu_percent", "total_cpu_percent", "total_device_percent"})
    type.def_prop_ro(name, [](const EventHandle&) { return -1; });
}

void def_place(Class& type) {
  type.def_prop_ro("device_type", [](const EventHandle& h) { return to_python(h.event.device_type()); })
      .def_prop_ro("device_index", [](const EventHandle& h) { return h.event.device().index; })
      .def_prop_ro("device_resource_id", [](const EventHandle& h) { return h.event.device_resource_id(); })
      .def_prop_ro("use_device", &use_device)
      .def_prop_ro("thread", [](const EventHandle& h) { return h.event.thread(); })
      .def_prop_ro("thread_id", [](const EventHandle& h) { return h.event.thread_id(); })
      .def_prop_ro("fwd_thread", [](const EventHandle& h) { return h.event.fwd_thread(); })
      .def_prop_ro("cpu_parent",
                   [](const EventHandle& h) -> nb::object {
                     const auto parent = h.event.cpu_parent();
                     return parent ? h.other(*parent) : nb::none();
                   })
      .def_prop_ro("cpu_children", &children)
      .def_prop_ro("kernels", &kernels)
      .def_prop_ro("linked_correlation_id", [](const EventHandle& h) { return correlation_of(h); })
      .def_prop_ro("flow_id", [](const EventHandle& h) { return flow_of(h).id; })
      .def_prop_ro("flow_type", [](const EventHandle& h) { return flow_of(h).type; })
      .def_prop_ro("flow_start", [](const EventHandle& h) { return flow_of(h).starts; });
}

void def_times(Class& type) {
  type.def_prop_ro("time_range", &time_range)
      .def_prop_ro("start_ns", [](const EventHandle& h) { return h.event.start_ns(); })
      .def_prop_ro("end_ns", [](const EventHandle& h) { return h.event.end_ns(); })
      .def_prop_ro("duration_ns", [](const EventHandle& h) { return h.event.duration_ns(); })
      .def_prop_ro("cpu_time_total", &Times::cpu_time_total)
      .def_prop_ro("self_cpu_time_total", &Times::self_cpu_time_total)
      .def_prop_ro("device_time_total", &Times::device_time_total)
      .def_prop_ro("self_device_time_total", &Times::self_device_time_total)
      .def_prop_ro("cuda_time_total",
                   [](const EventHandle& h) {
                     warn_deprecated("`cuda_time_total` is deprecated. Use `device_time_total` instead.");
                     return Times::device_time_total(h);
                   })
      .def_prop_ro("self_cuda_time_total", [](const EventHandle& h) {
        warn_deprecated("`self_cuda_time_total` is deprecated. Use `self_device_time_total` instead.");
        return Times::self_device_time_total(h);
      });
  def_formatted_times<Times>(type);
}

void def_side_data(Class& type) {
  type.def_prop_ro("cpu_memory_usage", [](const EventHandle& h) { return h.event.memory_usage().cpu; })
      .def_prop_ro("device_memory_usage", [](const EventHandle& h) { return h.event.memory_usage().device; })
      .def_prop_ro("self_cpu_memory_usage", [](const EventHandle& h) { return h.event.self_memory_usage().cpu; })
      .def_prop_ro("self_device_memory_usage", [](const EventHandle& h) { return h.event.self_memory_usage().device; })
      .def_prop_ro("self_cuda_memory_usage",
                   [](const EventHandle& h) {
                     warn_deprecated("`self_cuda_memory_usage` is deprecated. Use `self_device_memory_usage` instead.");
                     return h.event.self_memory_usage().device;
                   })
      .def_prop_ro("flops", [](const EventHandle& h) { return h.event.flops(); })
      .def_prop_ro("input_shapes", [](const EventHandle& h) { return to_python(h.event.shapes()); })
      .def_prop_ro("structured_input_shapes", &structured_shapes)
      .def_prop_ro("structured_input_strides", &structured_strides)
      .def_prop_ro("input_dtypes", &input_types)
      .def_prop_ro("concrete_inputs", &concrete_inputs)
      .def_prop_ro("kwinputs", &keyword_inputs)
      .def_prop_ro("stack", [](const EventHandle& h) { return to_python(torch_frames(h.event.stack())); })
      .def_prop_ro("attributes", &attributes)
      .def_prop_ro("event_metadata",
                   [](const EventHandle& h) { return imported("mindtorch_v2.events.metadata", "build_metadata")(attributes(h)); })
      .def_prop_ro("_index_in_trace", &index_in_trace)
      .def_prop_ro("metadata_json", [](const EventHandle& h) {
        warn_deprecated("`metadata_json` is deprecated. Use `event_metadata` instead.");
        return imported("mindtorch_v2.events.metadata", "metadata_json")(h.event.id(), index_in_trace(h), attributes(h));
      });
}

nb::list key_list(const EventHandle& handle) {
  nb::list list;
  for (const std::string_view key : mapping_keys(handle)) list.append(to_text(key));
  return list;
}

nb::dict as_dict(const EventHandle& handle) {
  nb::dict dict;
  for (const std::string_view key : mapping_keys(handle)) dict[to_text(key)] = mapping_value(handle, key);
  return dict;
}

void def_mapping(Class& type) {
  type.def(
          "__getitem__", [](const EventHandle& h, const std::string& key) { return mapping_value(h, key); }, nb::arg("key"))
      .def(
          "__contains__", [](const EventHandle& h, nb::handle key) { return PySequence_Contains(key_list(h).ptr(), key.ptr()) == 1; },
          nb::arg("key"))
      .def("__len__", [](const EventHandle& h) { return mapping_keys(h).size(); })
      .def("__iter__", [](const EventHandle& h) { return nb::iter(key_list(h)); })
      .def("keys", [](const EventHandle& h) { return as_dict(h).attr("keys")(); })
      .def("values", [](const EventHandle& h) { return as_dict(h).attr("values")(); })
      .def("items", [](const EventHandle& h) { return as_dict(h).attr("items")(); })
      .def(
          "get", [](const EventHandle& h, nb::handle key, nb::handle otherwise) { return as_dict(h).attr("get")(key, otherwise); },
          nb::arg("key"), nb::arg("default") = nb::none());
}

// torch's events can be changed after the fact; these are what was recorded.
void def_refusals(Class& type) {
  for (const char* name : {"append_kernel", "append_cpu_child", "set_cpu_parent"})
    type.def(name, [name](const EventHandle&, const nb::args&, const nb::kwargs&) -> nb::object {
      throw TypeMismatch(fmt::format("{}(): a recorded event cannot be changed; FunctionEvent(...) makes one that can", name));
    });
}

void def_equality(Class& type) {
  type.def(
          "__eq__",
          [](const EventHandle& h, nb::handle other) -> nb::object {
            if (!nb::isinstance<EventHandle>(other)) return nb::borrow(Py_NotImplemented);
            return nb::bool_(h.event == nb::cast<const EventHandle&>(other).event);
          },
          nb::arg("other"))
      .def("__hash__", [](const EventHandle& h) {
        return std::hash<const void*>()(h.analysis.get()) ^ (static_cast<std::size_t>(h.event.id()) * 0x9E3779B97F4A7C15ULL);
      });
}

}  // namespace

nb::object to_python(EventHandle handle) { return hidden_from_collector(nb::cast(std::move(handle))); }

void bind_function_event(nb::module_& module) {
  Class type(module, "FunctionEvent", nb::dynamic_attr(), nb::is_weak_referenceable(), nb::type_slots(event_slots()),
             "One event of a recording. Made by the profiler: events()[i].");
  def_identity(type);
  def_constants(type);
  def_place(type);
  def_times(type);
  def_side_data(type);
  def_mapping(type);
  def_refusals(type);
  def_equality(type);
  type.def("__repr__", [](const EventHandle& h) { return to_text(describe(h)); })
      .def_prop_ro(
          "_added", [](nb::handle self) { return added_attributes(self, kEventAttributes); }, "The attributes that a program has added.");
}

}  // namespace mindtorch::python

// An event read as a mapping: event["name"], dict(event), vars(event).

#include <algorithm>
#include <array>
#include <functional>

#include "mindtorch/base/text.h"
#include "mindtorch/trace/inputs.h"
#include "python/src/profiler/added_attributes.h"
#include "python/src/profiler/conversions.h"
#include "python/src/profiler/event_handle.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

using trace::Device;
using trace::DeviceType;
using trace::EventKind;

bool is_op(EventKind kind) { return kind == EventKind::kOp || kind == EventKind::kBackward; }

// Where the op's tensors live; what the host does not say lives on the CPU.
Device home(const EventHandle& handle) { return handle.event.op_device().value_or(Device{}); }

bool always(const EventHandle&) { return true; }
bool is_op_event(const EventHandle& handle) { return is_op(handle.event.kind()); }
bool has_shapes(const EventHandle& handle) { return handle.recording().options.shapes && is_op(handle.event.kind()); }
bool has_stack(const EventHandle& handle) {
  return handle.recording().options.stacks && (is_op(handle.event.kind()) || trace::is_user_kind(handle.event.kind()));
}
template <DeviceType Type>
bool has_memory(const EventHandle& handle) {
  return handle.recording().options.memory && is_op(handle.event.kind()) && home(handle).type == Type;
}

template <std::int64_t analyze::MemorySpan::*Member>
nb::object memory(const EventHandle& handle) {
  return nb::int_((*handle.event.memory_span()).*Member);
}
nb::object memory_delta(const EventHandle& handle) { return nb::int_(handle.event.memory_span()->delta()); }

struct Key {
  std::string_view name;
  bool (*present)(const EventHandle&);
  nb::object (*value)(const EventHandle&);
};

constexpr auto kKeys = std::to_array<Key>({
    {"name", always, [](const EventHandle& h) -> nb::object { return to_text(h.event.trace_name()); }},
    {"kind", always, [](const EventHandle& h) -> nb::object { return to_text(h.event.kind_name()); }},
    {"device_type", always, [](const EventHandle& h) { return to_python(home(h).type); }},
    {"step", always, [](const EventHandle& h) -> nb::object { return nb::int_(h.event.step()); }},
    {"start_ns", always, [](const EventHandle& h) -> nb::object { return nb::int_(h.event.start_ns()); }},
    {"end_ns", always, [](const EventHandle& h) -> nb::object { return nb::int_(h.event.end_ns()); }},
    {"duration_ns", always, [](const EventHandle& h) -> nb::object { return nb::int_(h.event.duration_ns()); }},
    {"thread_id", always, [](const EventHandle& h) -> nb::object { return nb::int_(h.event.thread_id()); }},
    {"correlation_id", is_op_event,
     [](const EventHandle& h) -> nb::object { return nb::int_(h.event.id()); }},  // "External id" of the trace
    {"runtime_name", is_op_event, [](const EventHandle&) -> nb::object { return nb::str("dispatch_kernel"); }},
    {"runtime_tid", is_op_event, [](const EventHandle& h) -> nb::object { return nb::int_(h.event.thread_id()); }},
    {"input_shapes", has_shapes, [](const EventHandle& h) -> nb::object { return structured_shapes(h); }},
    {"stack", has_stack, [](const EventHandle& h) -> nb::object { return to_python(h.event.stack()); }},
    {"cpu_memory_allocated_before", has_memory<DeviceType::kCpu>, memory<&analyze::MemorySpan::before>},
    {"cpu_memory_allocated_after", has_memory<DeviceType::kCpu>, memory<&analyze::MemorySpan::after>},
    {"cpu_memory_allocated_delta", has_memory<DeviceType::kCpu>, memory_delta},
    {"npu_memory_allocated_before", has_memory<DeviceType::kNpu>, memory<&analyze::MemorySpan::before>},
    {"npu_memory_allocated_after", has_memory<DeviceType::kNpu>, memory<&analyze::MemorySpan::after>},
    {"npu_memory_allocated_delta", has_memory<DeviceType::kNpu>, memory_delta},
    {"cuda_memory_allocated_before", has_memory<DeviceType::kCuda>, memory<&analyze::MemorySpan::before>},
    {"cuda_memory_allocated_after", has_memory<DeviceType::kCuda>, memory<&analyze::MemorySpan::after>},
    {"cuda_memory_allocated_delta", has_memory<DeviceType::kCuda>, memory_delta},
});

nb::list extents(const EventHandle& handle, std::vector<std::int64_t> trace::Input::*member) {
  nb::list list;
  for (const trace::Input& input : handle.event.inputs()) {
    nb::list of_list;
    for (const trace::Input& tensor : input.list) of_list.append(to_python(tensor.*member));
    const bool tensor = input.kind == trace::Input::Kind::kTensor;
    list.append(tensor ? to_python(input.*member) : of_list);
  }
  return list;
}

PyGetSetDef event_dict[] = {{"__dict__", get_dict_and_show, nullptr, nullptr, const_cast<const char**>(kEventAttributes)},
                            {"__class__", get_torchs_class, nullptr, nullptr, const_cast<char*>("FunctionEvent")},
                            {}};

}  // namespace

const char* const kEventAttributes[] = {"id",
                                        "node_id",
                                        "name",
                                        "overload_name",
                                        "trace_name",
                                        "time_range",
                                        "thread",
                                        "fwd_thread",
                                        "kernels",
                                        "count",
                                        "cpu_children",
                                        "cpu_parent",
                                        "input_shapes",
                                        "concrete_inputs",
                                        "kwinputs",
                                        "stack",
                                        "scope",
                                        "use_device",
                                        "cpu_memory_usage",
                                        "device_memory_usage",
                                        "is_async",
                                        "is_remote",
                                        "sequence_nr",
                                        "device_type",
                                        "device_index",
                                        "device_resource_id",
                                        "is_legacy",
                                        "flops",
                                        "is_user_annotation",
                                        "is_python_function",
                                        "activity_type",
                                        "self_cpu_percent",
                                        "total_cpu_percent",
                                        "total_device_percent",
                                        "flow_id",
                                        "flow_type",
                                        "flow_start",
                                        "external_id",
                                        "linked_correlation_id",
                                        "event_metadata",
                                        "structured_input_shapes",
                                        "structured_input_strides",
                                        "input_dtypes",
                                        "python_id",
                                        "python_parent_id",
                                        "python_module_id",
                                        nullptr};

PyType_Slot* event_slots() {
  static PyType_Slot slots[] = {{Py_tp_setattro, reinterpret_cast<void*>(set_attribute)}, {Py_tp_getset, event_dict}, {0, nullptr}};
  return slots;
}

std::vector<std::string_view> mapping_keys(const EventHandle& handle) {
  std::vector<std::string_view> names;
  for (const Key& key : kKeys)
    if (key.present(handle)) names.push_back(key.name);
  return names;
}

nb::object mapping_value(const EventHandle& handle, std::string_view name) {
  const auto* const key = std::ranges::find(kKeys, name, &Key::name);
  if (key == kKeys.end() || !key->present(handle)) throw nb::key_error(valid_utf8(name).c_str());
  return key->value(handle);
}

nb::list structured_shapes(const EventHandle& handle) { return extents(handle, &trace::Input::sizes); }
nb::list structured_strides(const EventHandle& handle) { return extents(handle, &trace::Input::strides); }

}  // namespace mindtorch::python

// FunctionEventAvg in Python.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "python/src/profiler/added_attributes.h"
#include "python/src/profiler/average_row.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/conversions.h"
#include "python/src/profiler/formatted_times.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

using analyze::Average;
using Class = nb::class_<AverageRow>;

struct Times {
  static double cpu_time(const AverageRow& r) { return r.average.cpu_time(); }
  static double device_time(const AverageRow& r) { return r.average.device_time(); }
  static double cpu_time_total(const AverageRow& r) { return r.average.cpu_time_total(); }
  static double device_time_total(const AverageRow& r) { return r.average.device_time_total(); }
  static double self_cpu_time_total(const AverageRow& r) { return r.average.self_cpu_time_total(); }
  static double self_device_time_total(const AverageRow& r) { return r.average.self_device_time_total(); }
};

// A field that Python reads and writes as it is.
template <class T, class Part>
void def_field(Class& type, const char* name, T Part::*member) {
  type.def_prop_rw(
      name, [member](const AverageRow& r) { return r.average.*member; }, [member](AverageRow& r, T value) { r.average.*member = value; });
}

// Nanoseconds inside, microseconds outside.
void def_time(Class& type, const char* name, std::int64_t analyze::Sums::*member) {
  type.def_prop_rw(
      name, [member](const AverageRow& r) { return static_cast<double>(r.average.*member) / 1000.0; },
      [member](AverageRow& r, double us) { r.average.*member = std::llround(us * 1000.0); });
}

// torch's None until something is added or set.
template <class Value>
nb::object unless_fresh(const AverageRow& row, bool is_set, Value value) {
  return row.has_key || is_set ? nb::object(std::move(value)) : nb::none();
}

void def_texts(Class& type) {
  type.def_prop_rw(
          "overload_name",
          [](const AverageRow& r) { return unless_fresh(r, !r.average.overload_name.empty(), to_text(r.average.overload_name)); },
          [](AverageRow& r, std::optional<std::string> text) { r.average.overload_name = std::move(text).value_or(""); },
          nb::arg("text").none())
      .def_prop_rw(
          "stack", [](const AverageRow& r) { return unless_fresh(r, !r.average.stack.empty(), to_python(r.average.stack)); },
          [](AverageRow& r, std::optional<std::vector<std::string>> stack) {
            r.average.stack = std::move(stack).value_or(std::vector<std::string>());
          },
          nb::arg("stack").none());
}

// The first thing added gives a row without key its identity.
void add(AverageRow& row, nb::handle other) {
  const Average added = row_of(other);
  if (row.has_key) {
    row.average.add(added);
    return;
  }
  row.average = added;
  row.has_key = true;
  row.take_relations(other);
}

std::string describe(const AverageRow& row) {
  const Average& a = row.average;
  const std::string device = a.use_device.empty() ? "cuda" : a.use_device;
  return fmt::format(
      "<FunctionEventAvg key={} self_cpu_time={} cpu_time={}  self_{}_time={} {}_time={} input_shapes={} cpu_memory_usage={} "
      "{}_memory_usage={}>",
      row.has_key ? a.key : "None", analyze::format_time(a.self_cpu_time_total()), analyze::format_time(a.cpu_time()), device,
      analyze::format_time(a.self_device_time_total()), device, analyze::format_time(a.device_time()),
      a.input_shapes ? analyze::shapes_text(*a.input_shapes)
      : row.has_key  ? ""
                     : "None",
      a.cpu_memory_usage, device, a.device_memory_usage);
}

// Copies and pickles of a row consist of its attributes without its events.
bool is_copied(std::string_view name) { return name != "cpu_children" && name != "cpu_parent"; }

nb::dict state_of(nb::handle row) {
  nb::dict state;
  for (const char* const* name = kRowAttributes; *name != nullptr; ++name)
    if (is_copied(*name)) state[*name] = row.attr(*name);
  return state;
}

void set_state(nb::handle row, const nb::dict& state) {
  for (const char* const* name = kRowAttributes; *name != nullptr; ++name)
    if (is_copied(*name) && state.contains(*name)) nb::setattr(row, *name, nb::object(state[*name]));
}

nb::tuple reduce_row(nb::handle row) {
  nb::dict state = state_of(row);
  state.update(added_attributes(row, kRowAttributes));
  return nb::make_tuple(row.type(), nb::tuple(), state);
}

void def_pickle(Class& type) {
  type.def("__reduce__", &reduce_row)
      .def(
          "__setstate__",
          [](nb::handle self, const nb::dict& state) {
            for (const auto [name, value] : state) nb::setattr(self, name, value);
          },
          nb::arg("state"))
      .def_prop_ro(
          "_row",
          [](nb::handle self) {
            const Average& average = nb::cast<const AverageRow&>(self).average;
            nb::dict row = state_of(self);
            row["name"] = row["key"];
            row["self_time_ns"] = average.self_cpu_time_total_ns;
            row["total_time_ns"] = average.cpu_time_total_ns;
            return row;
          },
          "The row as a dictionary, of which another row can be made.");
}

void def_key(Class& type) {
  type.def_prop_rw(
      "key", [](const AverageRow& r) -> nb::object { return r.has_key ? nb::object(to_text(r.average.key)) : nb::none(); },
      [](AverageRow& r, std::optional<std::string> key) {
        r.has_key = key.has_value();
        r.average.key = std::move(key).value_or("");
      },
      nb::arg("key").none());
}

void def_sums(Class& type) {
  def_field(type, "count", &Average::count);
  def_time(type, "cpu_time_total", &Average::cpu_time_total_ns);
  def_time(type, "self_cpu_time_total", &Average::self_cpu_time_total_ns);
  def_time(type, "device_time_total", &Average::device_time_total_ns);
  def_time(type, "self_device_time_total", &Average::self_device_time_total_ns);
  def_field(type, "cpu_memory_usage", &Average::cpu_memory_usage);
  def_field(type, "self_cpu_memory_usage", &Average::self_cpu_memory_usage);
  def_field(type, "device_memory_usage", &Average::device_memory_usage);
  def_field(type, "self_device_memory_usage", &Average::self_device_memory_usage);
  def_field(type, "flops", &Average::flops);
  def_formatted_times<Times>(type);
}

void def_group(Class& type) {
  def_field(type, "node_id", &Average::node_id);
  def_field(type, "is_async", &Average::is_async);
  def_field(type, "is_remote", &Average::is_remote);
  def_field(type, "is_legacy", &Average::is_legacy);
  def_field(type, "is_user_annotation", &Average::is_user_annotation);
  def_texts(type);
  type.def_prop_rw(
          "scope", [](const AverageRow& r) { return unless_fresh(r, r.average.scope != 0, nb::int_(r.average.scope)); },
          [](AverageRow& r, std::optional<int> scope) { r.average.scope = scope.value_or(0); }, nb::arg("scope").none())
      .def_prop_rw(
          "use_device",
          [](const AverageRow& r) { return r.average.use_device.empty() ? nb::none() : nb::object(to_text(r.average.use_device)); },
          [](AverageRow& r, std::optional<std::string> device) { r.average.use_device = std::move(device).value_or(""); },
          nb::arg("device").none())
      .def_prop_rw(
          "device_type", [](const AverageRow& r) { return to_python(r.average.device_type); },
          [](AverageRow& r, nb::handle member) {
            r.average.device_type = static_cast<trace::DeviceType>(nb::cast<int>(member.attr("value")));
          })
      .def_prop_ro(
          "op_device",
          [](const AverageRow& r) -> nb::object { return r.average.op_device ? to_python(r.average.op_device->type) : nb::none(); })
      .def_prop_rw(
          "input_shapes",
          [](const AverageRow& r) {
            return r.average.input_shapes ? nb::object(to_python(*r.average.input_shapes)) : unless_fresh(r, false, nb::str(""));
          },
          [](AverageRow& r, nb::handle shapes) {
            r.average.input_shapes.reset();
            if (!shapes.is_none() && !nb::isinstance<nb::str>(shapes)) r.average.input_shapes = nb::cast<analyze::Shapes>(shapes);
          },
          nb::arg("shapes").none())
      .def_prop_rw("cpu_parent", &AverageRow::parent, &AverageRow::set_parent, nb::arg("parent").none())
      .def_prop_rw(
          "cpu_children", &AverageRow::children, [](AverageRow& r, nb::object children) { r.cpu_children = std::move(children); },
          nb::arg("children").none());
}

}  // namespace

void bind_function_event_avg(nb::module_& module) {
  Class type(module, "FunctionEventAvg", nb::dynamic_attr(), nb::type_slots(average_row_slots()),
             "A row of key_averages(): what events of one name took together.");
  type.def(
      "__init__",
      [](nb::pointer_and_handle<AverageRow> self, const std::optional<nb::dict>& row) {
        new (self.p) AverageRow{.has_key = false};
        self.p->average.node_id = 0;
        nb::inst_mark_ready(self.h);
        if (row) set_state(self.h, *row);
      },
      nb::arg("row").none() = nb::none());
  def_key(type);
  def_sums(type);
  def_group(type);
  def_pickle(type);
  type.def(
          "add",
          [](nb::handle self, nb::handle other) {
            add(nb::cast<AverageRow&>(self), other);
            return nb::borrow(self);
          },
          nb::arg("other"))
      .def("__iadd__",
           [](nb::handle self, nb::handle other) {
             add(nb::cast<AverageRow&>(self), other);
             return nb::borrow(self);
           })
      .def("__repr__", [](const AverageRow& r) { return to_text(describe(r)); });
}

}  // namespace mindtorch::python

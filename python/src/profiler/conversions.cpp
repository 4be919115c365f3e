// Python's enums and lists from C++ values, and back.
#include "python/src/profiler/conversions.h"

#include <map>
#include <utility>

#include "mindtorch/base/error.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

// Members live as long as the process, as the enums do: the references are kept for good, so that none is dropped after the interpreter.
nb::object member(const char* enum_name, int value) {
  static auto* const members = new std::map<std::pair<std::string_view, int>, PyObject*>;
  PyObject*& cached = (*members)[{enum_name, value}];
  if (cached == nullptr) cached = imported("mindtorch_v2.base.enums", enum_name)(value).release().ptr();
  return nb::borrow(cached);
}

template <class Items, class Convert>
nb::list list_of(const Items& items, Convert convert) {
  nb::list list;
  for (const auto& item : items) list.append(convert(item));
  return list;
}

std::string class_name(nb::handle object) { return nb::cast<std::string>(object.type().attr("__name__")); }

}  // namespace

nb::object imported(const char* module, const char* name) { return nb::module_::import_(module).attr(name); }

nb::object to_python(trace::DeviceType type) { return member("DeviceType", static_cast<int>(type)); }
nb::object to_python(profiler::Activity activity) { return member("ProfilerActivity", static_cast<int>(activity)); }
nb::object to_python(profiler::ProfilerAction action) { return member("ProfilerAction", static_cast<int>(action)); }

nb::object to_python(const std::vector<profiler::Activity>& activities) {
  nb::set set;
  for (const profiler::Activity activity : activities) set.add(to_python(activity));
  return set;
}

profiler::Activity to_activity(nb::handle object) {
  const bool named = nb::isinstance<nb::str>(object) || class_name(object) == "ProfilerActivity";
  if (!named) throw_error<InvalidArgument>("profiler.activities", "unsupported profiler activity: {}", str_of(object));
  return profiler::parse_activity(str_of(object));
}

std::vector<profiler::Activity> to_activities(nb::handle iterable) {
  std::vector<profiler::Activity> activities;
  for (const nb::handle item : nb::iter(iterable)) activities.push_back(to_activity(item));
  return activities;
}

bool is_action(nb::handle object) { return class_name(object) == "ProfilerAction"; }

profiler::ProfilerAction to_action(nb::handle object) {
  if (!is_action(object))
    throw_error<InvalidArgument>("profiler.schedule", "a schedule must return a ProfilerAction, got {}", repr_of(object));
  return static_cast<profiler::ProfilerAction>(nb::cast<int>(object.attr("value")));
}

nb::list to_python(const std::vector<std::int64_t>& numbers) {
  return list_of(numbers, [](std::int64_t number) { return nb::int_(number); });
}

nb::list to_python(const analyze::Shapes& shapes) {
  return list_of(shapes, [](const std::vector<std::int64_t>& shape) { return to_python(shape); });
}

nb::list to_python(const std::vector<std::string>& texts) {
  return list_of(texts, [](const std::string& text) { return to_text(text); });
}

}  // namespace mindtorch::python

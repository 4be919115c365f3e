// Conversions between C++ and Python: the enums of mindtorch_v2.profiler, activities, actions, shapes.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/analyze/arguments.h"
#include "mindtorch/profiler/activity.h"
#include "mindtorch/profiler/schedule.h"
#include "mindtorch/trace/event.h"
#include "python/src/text.h"

namespace mindtorch::python {

namespace nb = nanobind;

// `name` of a module of this package, imported when first asked for. All of these need the GIL.
nb::object imported(const char* module, const char* name);

// Members of the enums of mindtorch_v2.profiler.
nb::object to_python(trace::DeviceType type);
nb::object to_python(profiler::Activity activity);
nb::object to_python(profiler::ProfilerAction action);
nb::object to_python(const std::vector<profiler::Activity>& activities);  // a set

// A member of our enum or of torch's, or a string. Throws InvalidArgument for anything unknown.
profiler::Activity to_activity(nb::handle object);
// The elements of any iterable. Throws what iterating throws.
std::vector<profiler::Activity> to_activities(nb::handle iterable);
// A member of our ProfilerAction or of torch's. Throws InvalidArgument for anything else.
profiler::ProfilerAction to_action(nb::handle object);
bool is_action(nb::handle object);  // ours or torch's

// Lists of Python.
nb::list to_python(const std::vector<std::int64_t>& numbers);
nb::list to_python(const analyze::Shapes& shapes);
nb::list to_python(const std::vector<std::string>& texts);

}  // namespace mindtorch::python

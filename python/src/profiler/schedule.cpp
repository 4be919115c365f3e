// Schedules between the languages.
#include "python/src/profiler/schedule.h"

#include <fmt/format.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <tuple>

#include "mindtorch/base/error.h"
#include "mindtorch/profiler/warning.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/conversions.h"

namespace mindtorch::python {
namespace {

const profiler::ScheduleOptions& options_of(const NativeSchedule& schedule) {
  return schedule.action.target<profiler::CyclicSchedule>()->options();
}

std::string describe(const NativeSchedule& schedule) {
  const auto& [wait, warmup, active, repeat, skip_first, skip_first_wait] = options_of(schedule);
  return fmt::format("schedule(wait={}, warmup={}, active={}, repeat={}, skip_first={}, skip_first_wait={})", wait, warmup, active, repeat,
                     skip_first, skip_first_wait);
}

// A pickle of a schedule holds these numbers.
using State = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
State state_of(const NativeSchedule& schedule) {
  const auto& [wait, warmup, active, repeat, skip_first, skip_first_wait] = options_of(schedule);
  return {wait, warmup, active, repeat, skip_first, skip_first_wait};
}

// torch does nothing in a step for which a schedule returns something else.
profiler::ProfilerAction action_of(nb::handle returned) {
  if (is_action(returned)) return to_action(returned);
  warn_once(
      profiler::WarningCategory::kUser,
      fmt::format("A schedule must return a ProfilerAction, got {}: nothing is recorded in such a step.", nb::repr(returned).c_str()));
  return profiler::ProfilerAction::kNone;
}

}  // namespace

profiler::Schedule to_schedule(nb::handle callable, nb::handle owner) {
  if (callable.is_none()) return {};
  if (nb::isinstance<NativeSchedule>(callable)) return nb::cast<NativeSchedule&>(callable).action;
  if (PyCallable_Check(callable.ptr()) == 0) throw TypeMismatch("schedule must be callable");
  return [owner](std::int64_t step) { return action_of(owner.attr("schedule")(step)); };
}

void bind_schedule(nb::module_& module) {
  nb::class_<NativeSchedule>(module, "Schedule", "What schedule() returns: a callable from the number of a step to its ProfilerAction.")
      .def(
          "__init__",
          [](NativeSchedule* self, std::int64_t wait, std::int64_t warmup, std::int64_t active, std::int64_t repeat,
             std::int64_t skip_first, std::int64_t skip_first_wait) {
            new (self) NativeSchedule{profiler::schedule({wait, warmup, active, repeat, skip_first, skip_first_wait})};
          },
          nb::kw_only(), nb::arg("wait"), nb::arg("warmup"), nb::arg("active"), nb::arg("repeat") = 0, nb::arg("skip_first") = 0,
          nb::arg("skip_first_wait") = 0)
      .def(
          "__call__", [](const NativeSchedule& self, std::int64_t step) { return to_python(self.action(step)); }, nb::arg("step"))
      .def("__repr__", [](const NativeSchedule& self) { return to_text(describe(self)); })
      // It never changes, and torch's is a function, of which a copy is the function itself.
      .def("__copy__", [](nb::object self) { return self; })
      .def(
          "__deepcopy__", [](nb::object self, nb::handle) { return self; }, nb::arg("memo"))
      .def("__getstate__", &state_of)
      .def("__setstate__", [](NativeSchedule& self, const State& state) {
        const auto [wait, warmup, active, repeat, skip_first, skip_first_wait] = state;
        new (&self) NativeSchedule{profiler::CyclicSchedule({wait, warmup, active, repeat, skip_first, skip_first_wait})};
      });
}

}  // namespace mindtorch::python

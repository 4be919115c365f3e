// Profile in Python: the base class of _KinetoProfile and profile.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "mindtorch/profiler/tensorboard.h"
#include "mindtorch/profiler/trace_id.h"
#include "mindtorch/profiler/transition.h"
#include "python/src/capture/kept_error.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/conversions.h"
#include "python/src/profiler/python_profile.h"
#include "python/src/profiler/recording.h"
#include "python/src/profiler/schedule.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

using profiler::Profile;
using profiler::ProfilerAction;
using Class = nb::class_<PythonProfile>;

std::vector<profiler::ActivityFilter> to_filters(const nb::dict& activity_filters) {
  std::vector<profiler::ActivityFilter> filters;
  for (const auto [activity, names] : activity_filters)
    filters.push_back({to_activity(activity), nb::cast<std::vector<std::string>>(nb::list(names))});
  return filters;
}

void construct(nb::pointer_and_handle<PythonProfile> self, nb::handle activities, const nb::dict& activity_filters, nb::handle schedule,
               bool record_shapes, bool profile_memory, bool with_stack, bool with_flops, bool with_modules, nb::handle experimental_config,
               bool acc_events, std::optional<double> post_processing_timeout_s) {
  profiler::ProfileOptions options;
  if (!activities.is_none()) options.activities = profiler::Activities(to_activities(activities));
  options.activity_filters = to_filters(activity_filters);
  options.schedule = to_schedule(schedule, self.h);
  options.record_shapes = record_shapes;
  options.profile_memory = profile_memory;
  options.with_stack = with_stack;
  options.with_flops = with_flops;
  options.with_modules = with_modules;
  options.experimental_config = to_experimental_config(experimental_config);
  options.acc_events = acc_events;
  options.post_processing_timeout_s = post_processing_timeout_s;
  new (self.p) PythonProfile(self.h, std::move(options));
}

const char* call_name(profiler::TraceCall call) {
  static constexpr const char* kNames[] = {"prepare_trace", "start_trace", "stop_trace", "_trace_ready"};
  return kNames[static_cast<std::size_t>(call)];
}

void def_recording(Class& type) {
  type.def("start", [](PythonProfile& self) { raising_kept_error([&] { self->start(); }); })
      .def(
          "step", [](PythonProfile& self) { raising_kept_error([&] { self->step(); }); }, "The next step begins.")
      .def("stop", [](PythonProfile& self) { raising_kept_error([&] { self->stop(); }); })
      .def(
          "_set_schedule",
          [](nb::handle self, nb::handle schedule) { nb::cast<PythonProfile&>(self)->set_schedule(to_schedule(schedule, self)); },
          nb::arg("schedule").none())
      .def(
          "close", [](PythonProfile& self) { raising_kept_error([&] { self->close(); }); },
          "stop() if it runs, then the observer's cleanup().")
      .def(
          "_make_trace_calls",
          [](nb::handle self) {
            nb::cast<PythonProfile&>(self)->set_trace_calls([self](profiler::TraceCall call) { self.attr(call_name(call))(); });
          },
          "From now on, steps call the methods of the Python object.")
      .def("prepare_trace", [](PythonProfile& self) { self->prepare_trace(); })
      .def("start_trace", [](PythonProfile& self) { raising_kept_error([&] { self->start_trace(); }); })
      .def("stop_trace", [](PythonProfile& self) { raising_kept_error([&] { self->stop_trace(); }); })
      .def(
          "_snapshot",
          [](const PythonProfile& self, std::int64_t last_ns) {
            return HeldRecording(std::make_shared<trace::Recording>(self->snapshot(std::chrono::nanoseconds(last_ns))));
          },
          nb::arg("last_ns") = std::numeric_limits<std::int64_t>::max(), "What was recorded so far, or its last part; recording goes on.")
      .def(
          "toggle_collection_dynamic",
          [](PythonProfile& self, bool enable, nb::handle activities) {
            self->toggle_collection_dynamic(enable, to_activities(activities));
          },
          nb::arg("enable"), nb::arg("activities"));
}

bool is_true(nb::handle value) {
  const int truth = PyObject_IsTrue(value.ptr());
  if (truth < 0) throw nb::python_error();
  return truth == 1;
}

// An option that a program may change, with effect on the next cycle.
template <bool profiler::ProfileOptions::*Option>
void def_option(Class& type, const char* name) {
  type.def_prop_rw(
      name, [](const PythonProfile& self) { return self->options().*Option; },
      [](PythonProfile& self, nb::handle value) { self->options_of_next_cycle().*Option = is_true(value); });
}

void def_options(Class& type) {
  using profiler::ProfileOptions;
  def_option<&ProfileOptions::record_shapes>(type, "record_shapes");
  def_option<&ProfileOptions::profile_memory>(type, "profile_memory");
  def_option<&ProfileOptions::with_stack>(type, "with_stack");
  def_option<&ProfileOptions::with_flops>(type, "with_flops");
  def_option<&ProfileOptions::with_modules>(type, "with_modules");
  type.def_prop_rw(
          "acc_events", [](const PythonProfile& self) { return self->options().acc_events; },
          [](PythonProfile& self, nb::handle on) { self->set_acc_events(is_true(on)); })
      .def_prop_rw(
          "post_processing_timeout_s", [](const PythonProfile& self) { return self->options().post_processing_timeout_s; },
          [](PythonProfile& self, std::optional<double> seconds) { self->options_of_next_cycle().post_processing_timeout_s = seconds; },
          nb::for_setter(nb::arg("seconds").none()))
      .def(
          "_set_activities",
          [](PythonProfile& self, nb::handle activities, const nb::dict& filters) {
            self->set_activities(to_activities(activities), to_filters(filters));
          },
          nb::arg("activities"), nb::arg("activity_filters"))
      .def(
          "_set_experimental_config",
          [](PythonProfile& self, nb::handle config) {
            self->options_of_next_cycle().experimental_config = to_experimental_config(config);
          },
          nb::arg("config").none());
}

void def_state(Class& type) {
  def_options(type);
  type.def("_get_activities", [](const PythonProfile& self) { return to_python(self->activities()); })
      .def_prop_ro(
          "running", [](const PythonProfile& self) { return self->running(); }, "Between start() and stop().")
      .def_prop_ro("recording_now", [](const PythonProfile& self) { return self->recording_now(); })
      .def_prop_rw(
          "step_num", [](const PythonProfile& self) { return self->step_num(); },
          [](PythonProfile& self, std::int64_t step) { self->set_step_num(step); })
      .def_prop_rw(
          "current_action", [](const PythonProfile& self) { return to_python(self->current_action()); },
          [](PythonProfile& self, nb::handle action) { self->set_current_action(to_action(action)); })
      .def_prop_rw(
          "record_steps", [](const PythonProfile& self) { return self->record_steps(); },
          [](PythonProfile& self, nb::handle on) { self->set_record_steps(is_true(on)); })
      .def_prop_ro("trace_only", [](const PythonProfile& self) { return self->options().experimental_config.trace_only; })
      .def("_use_device", [](const PythonProfile& self) { return self->use_device(); })
      .def("get_trace_id", [](const PythonProfile& self) { return self->get_trace_id(); })
      .def(
          "losses", [](const PythonProfile& self) { return self->losses(); }, "Events that are missing, and why.")
      .def(
          "overhead", [](const PythonProfile& self) { return self->overhead(); }, "What the profiler itself took, of the last trace.");
}

void def_metadata(Class& type) {
  type.def(
          "add_metadata", [](PythonProfile& self, const std::string& key, const std::string& text) { self->add_metadata(key, text); },
          nb::arg("key"), nb::arg("value"))
      .def(
          "add_metadata_json",
          [](PythonProfile& self, const std::string& key, const std::string& json) { self->add_metadata_json(key, json); }, nb::arg("key"),
          nb::arg("value"));
}

// All cycles if they are accumulated, else the last.
HeldRecording recording(const PythonProfile& self, const std::string& doing) { return {self->checked_analysis(doing), self->recording()}; }

// The cycle whose files the profile writes.
HeldRecording last_cycle(const PythonProfile& self, const std::string& doing) {
  auto cycle = self->checked_cycle(doing);
  auto analysis = self->analysis();
  if (&analysis->recording() != cycle.get()) analysis = std::make_shared<const analyze::Analysis>(cycle);
  return {std::move(analysis), std::move(cycle)};
}

void def_results(Class& type) {
  type.def("_recording", &recording, nb::arg("doing"))
      .def("_last_cycle", &last_cycle, nb::arg("doing"))
      .def("_check_stacks", [](const PythonProfile& self) { self->check_stacks(); })
      .def("_check_memory_timeline", [](const PythonProfile& self) { self->check_memory_timeline(); });
}

void bind_overhead(nb::module_& module) {
  using profiler::Overhead;
  nb::class_<Overhead>(module, "Overhead", "What the profiler itself took, of one trace.")
      .def_ro("prepare_ns", &Overhead::prepare_ns)
      .def_ro("start_ns", &Overhead::start_ns)
      .def_ro("stop_ns", &Overhead::stop_ns)
      .def_ro("window_ns", &Overhead::window_ns, "How long was recorded.")
      .def_ro("window_start_ns", &Overhead::window_start_ns, "When, by time.perf_counter_ns().")
      .def_ro("bytes", &Overhead::bytes, "Of events and side data when it stopped.")
      .def_ro("events", &Overhead::events)
      .def("__repr__", [](const Overhead& self) {
        return to_text(fmt::format("<Overhead prepare_ns={} start_ns={} stop_ns={} window_ns={} bytes={} events={}>", self.prepare_ns,
                                   self.start_ns, self.stop_ns, self.window_ns, self.bytes, self.events));
      });
}

// The calls torch makes from one action to the next, by the names of _KinetoProfile's methods.
nb::list transition_calls(nb::handle from, nb::handle to) {
  nb::list names;
  const auto next = to.is_none() ? std::nullopt : std::optional(to_action(to));
  for (const profiler::TraceCall call : profiler::transition(to_action(from), next).calls) names.append(nb::str(call_name(call)));
  return names;
}

}  // namespace

void bind_profile(nb::module_& module) {
  bind_overhead(module);
  nb::class_<profiler::TraceFiles>(module, "TraceFiles", "The files of a tensorboard_trace_handler().")
      .def(nb::init<std::string, std::string, bool>(), nb::arg("dir_name"), nb::arg("worker_name"), nb::arg("use_gzip"))
      .def("next_path", &profiler::TraceFiles::next_path);
  module.def("random_trace_id", &profiler::random_trace_id);
  module.def("transition_calls", &transition_calls, nb::arg("previous"), nb::arg("current").none());
  Class type(module, "Profile", nb::is_weak_referenceable(), "The state machine of a profile. Use mindtorch_v2.profiler.profile.");
  type.def("__init__", &construct, nb::kw_only(), nb::arg("activities").none(), nb::arg("activity_filters"), nb::arg("schedule").none(),
           nb::arg("record_shapes"), nb::arg("profile_memory"), nb::arg("with_stack"), nb::arg("with_flops"), nb::arg("with_modules"),
           nb::arg("experimental_config").none(), nb::arg("acc_events"), nb::arg("post_processing_timeout_s").none());
  def_recording(type);
  def_state(type);
  def_metadata(type);
  def_results(type);
}

}  // namespace mindtorch::python

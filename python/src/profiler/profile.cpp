// Profile in Python: the base class of _KinetoProfile and profile.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>

#include "mindtorch/export/export_trace.h"
#include "mindtorch/profiler/tensorboard.h"
#include "mindtorch/profiler/trace_id.h"
#include "mindtorch/profiler/transition.h"
#include "python/src/capture/kept_error.h"
#include "python/src/gil.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/conversions.h"
#include "python/src/profiler/event_sequence.h"
#include "python/src/profiler/python_profile.h"
#include "python/src/profiler/schedule.h"

namespace mindtorch::python {
namespace {

using profiler::Profile;
using profiler::ProfilerAction;
using Class = nb::class_<PythonProfile>;

void construct(nb::pointer_and_handle<PythonProfile> self, nb::handle activities, const nb::dict& activity_filters, nb::handle schedule,
               bool record_shapes, bool profile_memory, bool with_stack, bool with_flops, bool with_modules, nb::handle experimental_config,
               bool acc_events, std::optional<double> post_processing_timeout_s) {
  profiler::ProfileOptions options;
  if (!activities.is_none()) options.activities = profiler::Activities(to_activities(activities));
  for (const auto [activity, names] : activity_filters)
    options.activity_filters.push_back({to_activity(activity), nb::cast<std::vector<std::string>>(nb::list(names))});
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
      .def("prepare_trace", [](PythonProfile& self) { self->prepare_trace(); })
      .def("start_trace", [](PythonProfile& self) { raising_kept_error([&] { self->start_trace(); }); })
      .def("stop_trace", [](PythonProfile& self) { raising_kept_error([&] { self->stop_trace(); }); })
      .def(
          "_keep_snapshot_of", [](PythonProfile& self, PythonProfile& running) { self->keep_snapshot_of(*running); }, nb::arg("running"))
      .def(
          "toggle_collection_dynamic",
          [](PythonProfile& self, bool enable, nb::handle activities) {
            self->toggle_collection_dynamic(enable, to_activities(activities));
          },
          nb::arg("enable"), nb::arg("activities"));
}

void def_state(Class& type) {
  type.def_prop_ro("activities", [](const PythonProfile& self) { return to_python(self->activities()); })
      .def_prop_ro(
          "running", [](const PythonProfile& self) { return self->running(); }, "Between start() and stop().")
      .def_prop_ro("recording_now", [](const PythonProfile& self) { return self->recording_now(); })
      .def_prop_rw(
          "step_num", [](const PythonProfile& self) { return self->step_num(); },
          [](PythonProfile& self, std::int64_t step) { self->set_step_num(step); })
      .def_prop_ro("current_action", [](const PythonProfile& self) { return to_python(self->current_action()); })
      .def_prop_ro("record_steps", [](const PythonProfile& self) { return self->record_steps(); })
      .def_prop_ro("use_device", [](const PythonProfile& self) { return self->use_device(); })
      .def_prop_ro("record_shapes", [](const PythonProfile& self) { return self->options().record_shapes; })
      .def_prop_ro("profile_memory", [](const PythonProfile& self) { return self->options().profile_memory; })
      .def_prop_ro("with_stack", [](const PythonProfile& self) { return self->options().with_stack; })
      .def_prop_ro("with_flops", [](const PythonProfile& self) { return self->options().with_flops; })
      .def_prop_ro("with_modules", [](const PythonProfile& self) { return self->options().with_modules; })
      .def_prop_ro("acc_events", [](const PythonProfile& self) { return self->options().acc_events; })
      .def_prop_ro("trace_only", [](const PythonProfile& self) { return self->options().experimental_config.trace_only; })
      .def_prop_ro("post_processing_timeout_s", [](const PythonProfile& self) { return self->options().post_processing_timeout_s; })
      .def_prop_ro("preset_metadata", [](const PythonProfile& self) { return self->preset_metadata(); })
      .def("get_trace_id", [](const PythonProfile& self) { return self->get_trace_id(); })
      .def(
          "losses", [](const PythonProfile& self) { return self->losses(); }, "Events that are missing, and why.")
      .def(
          "overhead", [](const PythonProfile& self) { return self->overhead(); }, "What the profiler itself took, of the last trace.");
}

void def_metadata(Class& type) {
  type.def(
          "add_metadata", [](PythonProfile& self, const std::string& key, std::string_view text) { self->add_metadata(key, text); },
          nb::arg("key"), nb::arg("value"))
      .def(
          "add_metadata_json",
          [](PythonProfile& self, const std::string& key, std::string_view json) { self->add_metadata_json(key, json); }, nb::arg("key"),
          nb::arg("value"))
      .def(
          "preset_metadata_json",
          [](PythonProfile& self, const std::string& key, std::string_view json) { self->preset_metadata_json(key, json); }, nb::arg("key"),
          nb::arg("value"));
}

void export_memory_timeline(const PythonProfile& self, const std::string& path, const std::optional<std::string>& device) {
  auto cycle = self->checked_memory_cycle();
  const ReleasedGil unlocked;
  Profile::write_memory_timeline(std::move(cycle), path, device ? std::optional<std::string_view>(*device) : std::nullopt);
}

void def_results(Class& type) {
  type.def(
          "_events", [](const PythonProfile& self, std::string_view doing) { return EventSequence(self->checked_analysis(doing)); },
          nb::arg("doing") = "accessing events")
      .def(
          "_export_chrome_trace",
          [](const PythonProfile& self, const std::string& path) {
            const auto cycle = self->checked_cycle("exporting chrome trace");
            const ReleasedGil unlocked;
            Profile::write_chrome_trace(*cycle, path);
          },
          nb::arg("path"))
      .def(
          "_export_stacks",
          [](const PythonProfile& self, const std::string& path, std::string_view metric) {
            const auto analysis = self->checked_stacks_analysis();
            const ReleasedGil unlocked;
            Profile::write_stacks(*analysis, path, metric);
          },
          nb::arg("path"), nb::arg("metric"))
      .def("_export_memory_timeline", &export_memory_timeline, nb::arg("path"), nb::arg("device").none())
      .def(
          "_export_trace",
          [](const PythonProfile& self, const std::string& path) {
            const auto cycle = self->checked_cycle("exporting trace");
            const ReleasedGil unlocked;
            exporter::export_trace(*cycle, path);
          },
          nb::arg("path"));
}

void bind_results(nb::module_& module) {
  nb::class_<trace::Loss>(module, "Loss", "Events that are missing, and why.")
      .def_prop_ro("reason", [](const trace::Loss& self) { return to_text(trace::loss_reason_name(self.reason)); })
      .def_ro("count", &trace::Loss::count)
      .def_prop_ro("where", [](const trace::Loss& self) { return to_text(self.where); })
      .def_prop_ro("detail", [](const trace::Loss& self) { return to_text(self.detail); })
      .def("__repr__", [](const trace::Loss& self) {
        return to_text(fmt::format("<Loss reason={} count={} where={} detail={}>", trace::loss_reason_name(self.reason), self.count,
                                   self.where, self.detail));
      });
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
  static constexpr const char* kNames[] = {"prepare_trace", "start_trace", "stop_trace", "_trace_ready"};
  nb::list names;
  const auto next = to.is_none() ? std::nullopt : std::optional(to_action(to));
  for (const profiler::TraceCall call : profiler::transition(to_action(from), next).calls)
    names.append(nb::str(kNames[static_cast<std::size_t>(call)]));
  return names;
}

}  // namespace

void bind_profile(nb::module_& module) {
  bind_results(module);
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

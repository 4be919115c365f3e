// A profile whose callbacks are Python's.
#include "python/src/profiler/python_profile.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "mindtorch/profiler/recorder.h"
#include "mindtorch/profiler/status.h"
#include "mindtorch/profiler/trace_id.h"
#include "python/src/gil.h"
#include "python/src/profiler/unlocked_recorder.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

// Tells the profile, which calls the observers.
class PythonObserver : public profiler::ExecutionObserver {
 public:
  explicit PythonObserver(nb::handle owner) : owner_(owner) {}
  void start() override { owner_.attr("_observe")("start"); }
  void started() override { owner_.attr("_observe")("started"); }
  void stop() override { owner_.attr("_observe")("stop"); }
  void cleanup() override { owner_.attr("_observe")("cleanup"); }

 private:
  nb::handle owner_;
};

std::string trace_id(nb::handle owner) {
  const nb::object callback = owner.attr("custom_trace_id_callback");
  return callback.is_none() ? profiler::random_trace_id() : nb::cast<std::string>(callback());
}

template <class T>
void read(nb::handle config, const char* name, T& field) {
  const nb::object value = config.attr(name);
  if (!value.is_none()) field = nb::cast<T>(value);
}

void read_budget(nb::handle config, record::Budget& budget) {
  read(config, "budget_bytes", budget.bytes);
  if (const nb::object steps = config.attr("keep_last_steps"); !steps.is_none()) {
    budget.policy = record::Budget::Policy::kKeepLast;
    budget.keep_steps = nb::cast<std::int64_t>(steps);
  }
  if (const nb::object seconds = config.attr("keep_last_seconds"); !seconds.is_none()) {
    budget.policy = record::Budget::Policy::kKeepLast;
    budget.keep_ns = static_cast<std::int64_t>(1e9 * nb::cast<double>(seconds));
  }
  if (const nb::object path = config.attr("spill_path"); !path.is_none()) {
    budget.policy = record::Budget::Policy::kSpill;
    budget.spill_path = nb::cast<std::string>(path);
  }
}

}  // namespace

profiler::ExperimentalConfig to_experimental_config(nb::handle object) {
  profiler::ExperimentalConfig config;
  if (object.is_none()) return config;
  read(object, "profile_all_threads", config.profile_all_threads);
  read_budget(object, config.budget);
  read(object, "trace_only", config.trace_only);
  read(object, "verbose", config.verbose);
  read(object, "capture_overload_names", config.capture_overload_names);
  read(object, "adjust_profiler_step", config.adjust_profiler_step);
  read(object, "enable_cuda_sync_events", config.enable_cuda_sync_events);
  config.whole_cuda_graphs = nb::cast<std::string>(object.attr("cuda_graphs")) == "whole";
  config.device_stop_deadline =
      std::chrono::milliseconds(static_cast<std::int64_t>(1000 * nb::cast<double>(object.attr("device_stop_deadline_s"))));
  read(object, "enable_environment_counters", config.device_extras.environment);
  read(object, "enable_cuda_events", config.device_extras.events);
  read(object, "enable_nvtx", config.enable_nvtx);
  read(object, "performance_metrics", config.device_extras.metrics);
  config.device_extras.metrics_interval =
      std::chrono::nanoseconds(static_cast<std::int64_t>(1e6 * nb::cast<double>(object.attr("performance_metrics_interval_ms"))));
  read(object, "expose_kineto_event_metadata", config.expose_kineto_event_metadata);
  read(object, "profiler_metrics", config.profiler_metrics);
  read(object, "performance_events", config.performance_events);
  return config;
}

PythonProfile::PythonProfile(nb::handle owner, profiler::ProfileOptions options) {
  options.on_trace_ready = [owner](profiler::Profile&) { owner.attr("_trace_ready")(); };
  options.custom_trace_id_callback = [owner] { return trace_id(owner); };
  options.execution_trace_observer = std::make_shared<PythonObserver>(owner);
  if (!options.activities.specified()) {
    const ReleasedGil unlocked;  // may load a vendor's library
    options.activities = profiler::Activities(profiler::supported_activities());
  }
  const std::vector<profiler::Activity> activities = profiler::checked_activities(options.activities.list());
  auto recorder = make_unlocked_recorder(profiler::make_session_recorder(options, activities));
  profile_ = std::make_unique<profiler::Profile>(std::move(options), std::move(recorder));
}

}  // namespace mindtorch::python

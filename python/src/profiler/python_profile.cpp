// A profile whose callbacks are Python's.
#include "python/src/profiler/python_profile.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/profiler/recorder.h"
#include "mindtorch/profiler/status.h"
#include "mindtorch/profiler/trace_id.h"
#include "python/src/gil.h"
#include "python/src/text.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

// Releases the GIL while a recorder works. The GIL guards the state of a Profile, whose calls hold it, and release it only here.
class UnlockedRecorder : public profiler::Recorder {
 public:
  explicit UnlockedRecorder(std::unique_ptr<profiler::Recorder> recorder) : recorder_(std::move(recorder)) {}

  void prepare(const profiler::ProfileOptions& options, const std::vector<profiler::Activity>& activities) override {
    const ReleasedGil unlocked;
    recorder_->prepare(options, activities);
  }
  void start() override {
    const ReleasedGil unlocked;
    recorder_->start();
  }
  trace::Recording stop() override {
    const ReleasedGil unlocked;
    return recorder_->stop();
  }
  trace::Recording snapshot(std::chrono::nanoseconds last) override {
    const ReleasedGil unlocked;
    return recorder_->snapshot(last);
  }
  void discard() noexcept override {
    const ReleasedGil unlocked;
    recorder_->discard();
  }
  void toggle(profiler::Activity activity, bool on) override {
    const ReleasedGil unlocked;
    recorder_->toggle(activity, on);
  }

  // These are quick, and a step must begin and end on the thread that says so before any other runs.
  void mark_step(std::int64_t step) override { recorder_->mark_step(step); }
  void open_step_scope(std::int64_t step) override { recorder_->open_step_scope(step); }
  void close_step_scope() override { recorder_->close_step_scope(); }
  std::vector<std::string> problems() const override { return recorder_->problems(); }
  std::int64_t bytes_in_use() const override { return recorder_->bytes_in_use(); }

 private:
  std::unique_ptr<profiler::Recorder> recorder_;
};

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
  if (callback.is_none()) return profiler::random_trace_id();
  const nb::object id = callback();
  if (!PyUnicode_Check(id.ptr())) throw_wrong_type("custom_trace_id_callback", "its result", id);
  return text_of(id);
}

template <class T>
T option(nb::handle config, const char* name) {
  return attribute<T>(config, name, "experimental_config");
}

template <class T>
void read(nb::handle config, const char* name, T& field) {
  if (!config.attr(name).is_none()) field = option<T>(config, name);
}

void read_budget(nb::handle config, record::Budget& budget) {
  read(config, "budget_bytes", budget.bytes);
  if (!config.attr("keep_last_steps").is_none()) {
    budget.policy = record::Budget::Policy::kKeepLast;
    budget.keep_steps = option<std::int64_t>(config, "keep_last_steps");
  }
  if (!config.attr("keep_last_seconds").is_none()) {
    budget.policy = record::Budget::Policy::kKeepLast;
    budget.keep_ns = static_cast<std::int64_t>(1e9 * option<double>(config, "keep_last_seconds"));
  }
  if (!config.attr("spill_path").is_none()) {
    budget.policy = record::Budget::Policy::kSpill;
    budget.spill_path = option<std::string>(config, "spill_path");
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
  config.whole_cuda_graphs = option<std::string>(object, "cuda_graphs") == "whole";
  config.device_stop_deadline =
      std::chrono::milliseconds(static_cast<std::int64_t>(1000 * option<double>(object, "device_stop_deadline_s")));
  read(object, "enable_environment_counters", config.device_extras.environment);
  read(object, "enable_cuda_events", config.device_extras.events);
  read(object, "enable_nvtx", config.enable_nvtx);
  read(object, "performance_metrics", config.device_extras.metrics);
  config.device_extras.metrics_interval =
      std::chrono::nanoseconds(static_cast<std::int64_t>(1e6 * option<double>(object, "performance_metrics_interval_ms")));
  config.sampling_interval = std::chrono::nanoseconds(static_cast<std::int64_t>(1e6 * option<double>(object, "sampling_interval_ms")));
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
  auto recorder = std::make_unique<UnlockedRecorder>(profiler::make_session_recorder());
  profile_ = std::make_unique<profiler::Profile>(std::move(options), std::move(recorder));
}

}  // namespace mindtorch::python

// Recording: any recording or trace, and every question to it.
#include "python/src/profiler/recording.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "mindtorch/analyze/diff/diff.h"
#include "mindtorch/analyze/diff/limits.h"
#include "mindtorch/analyze/replay/what_if.h"
#include "mindtorch/analyze/steps.h"
#include "mindtorch/base/error.h"
#include "mindtorch/base/own_descriptors.h"
#include "mindtorch/export/export_trace.h"
#include "mindtorch/export/html/memory_timeline_writer.h"
#include "mindtorch/export/report/efficiency_json.h"
#include "mindtorch/export/report/report_json.h"
#include "mindtorch/export/report/report_writer.h"
#include "mindtorch/export/stacks/stacks_writer.h"
#include "mindtorch/export/tabular/tabular_arrow.h"
#include "mindtorch/ingest/load_trace.h"
#include "mtprof/check_output.h"
#include "mtprof/diff_output.h"
#include "mtprof/efficiency_output.h"
#include "mtprof/peaks.h"
#include "mtprof/what_if_output.h"
#include "python/src/gil.h"
#include "python/src/profiler/arrow_streams.h"
#include "python/src/profiler/bind_profiler.h"
#include "python/src/profiler/event_sequence.h"
#include "python/src/text.h"

namespace mindtorch::python {

HeldRecording::HeldRecording(std::shared_ptr<const analyze::Analysis> analysis, std::shared_ptr<const trace::Recording> recording,
                             mtprof::FileFacts file)
    : analysis_(std::move(analysis)), file_(std::make_shared<const mtprof::FileFacts>(std::move(file))) {
  const bool is_same = &analysis_->recording() == recording.get();
  // An analysis that refers to `recording` keeps it, and with it the metadata as they are now.
  with_metadata_ = is_same ? std::shared_ptr<const analyze::Analysis>(analysis_.get(), [analysis = analysis_, recording](const auto*) {})
                           : std::make_shared<const analyze::Analysis>(std::move(recording));
}

HeldRecording::HeldRecording(std::shared_ptr<trace::Recording> own, mtprof::FileFacts file)
    : analysis_(std::make_shared<const analyze::Analysis>(own)),
      with_metadata_(analysis_),
      own_(std::move(own)),
      file_(std::make_shared<const mtprof::FileFacts>(std::move(file))) {}

void HeldRecording::add_metadata(const std::string& key, std::string json) const {
  if (!own_) throw_error("profiler.recording", "the metadata of this recording belong to its profile: add them there");
  const std::unique_lock lock(*metadata_mutex_);
  own_->metadata[key] = std::move(json);
}

namespace {

using analyze::Analysis;
using Class = nb::class_<HeldRecording>;

HeldRecording load(const std::string& path, std::uint64_t max_memory) {
  const ReleasedGil unlocked;
  auto loaded = std::make_shared<ingest::LoadedTrace>(ingest::load_trace(path, {.max_memory = max_memory}));
  mtprof::FileFacts file = mtprof::facts_of(path, *loaded);
  return HeldRecording(std::shared_ptr<trace::Recording>(loaded, &loaded->recording), std::move(file));
}

std::string findings(const HeldRecording& self) {
  const ReleasedGil unlocked;
  return exporter::findings_json(analyze::make_report(*self.analysis(), analyze::kMostSteps, mtprof::known_peaks()));
}

std::string info(const HeldRecording& self) {
  const ReleasedGil unlocked;
  return self.with_metadata([&](const Analysis& analysis) { return mtprof::info_json(self.file(), analysis); });
}

std::string base_name(const HeldRecording& self) { return self.file().name.substr(self.file().name.find_last_of('/') + 1); }

analyze::Diff compare(const HeldRecording& before, const HeldRecording& after, const analyze::StepProfileOptions& options,
                      double confidence) {
  return analyze::diff_runs(analyze::step_profile(*before.analysis(), options), analyze::step_profile(*after.analysis(), options),
                            confidence);
}

// As JSON for programs, and as text for people.
using Answer = std::pair<std::string, std::string>;

nb::tuple to_python(const Answer& answer) { return nb::make_tuple(answer.first, to_text(answer.second)); }

nb::tuple diff(const HeldRecording& self, const HeldRecording& other, bool by_shape, bool by_module, double confidence) {
  return to_python([&]() -> Answer {
    const ReleasedGil unlocked;
    const analyze::Diff found = compare(self, other, {.by_shape = by_shape, .by_module = by_module}, confidence);
    const mtprof::DiffNames names{self.file().name, other.file().name};
    constexpr int kRows = 30;
    return {mtprof::diff_json(found, names), mtprof::diff_text(found, names, kRows, false)};
  }());
}

nb::tuple check(const HeldRecording& self, const HeldRecording& baseline, const std::vector<std::string>& texts) {
  return to_python([&]() -> Answer {
    const ReleasedGil unlocked;
    std::vector<analyze::Limit> limits;
    for (const std::string& text : texts) limits.push_back(analyze::parse_limit(text));
    const auto verdicts =
        analyze::check_limits(analyze::step_profile(*baseline.analysis()), analyze::step_profile(*self.analysis()), limits);
    return {mtprof::verdicts_json(verdicts), mtprof::verdicts_text(verdicts)};
  }());
}

nb::tuple efficiency(const HeldRecording& self, const std::vector<std::string>& files, const std::vector<std::string>& changes) {
  return to_python([&]() -> Answer {
    const ReleasedGil unlocked;
    const analyze::Efficiency found = analyze::find_efficiency(*self.analysis(), mtprof::known_peaks({.files = files, .changes = changes}));
    constexpr std::size_t kRows = 30;
    return {exporter::efficiency_json(found, ~std::size_t{0}), mtprof::efficiency_text(found, mtprof::EfficiencyTable::kOps, kRows)};
  }());
}

// Rows of ops, kernels and modules.
struct EfficiencyTables {
  analyze::Efficiency all;
};

EfficiencyTables efficiency_tables(const HeldRecording& self) {
  const ReleasedGil unlocked;
  return {analyze::find_efficiency(*self.analysis(), mtprof::known_peaks())};
}

void bind_efficiency(nb::module_& module) {
  nb::class_<EfficiencyTables>(module, "EfficiencyTable", "How far ops, kernels and modules were from their limits, as a table for Arrow.")
      .def(
          "__arrow_c_stream__",
          [](const EfficiencyTables& self, nb::handle) {
            return stream_capsule([&](ArrowArrayStream* out) { exporter::open_efficiency_stream(self.all, out); });
          },
          nb::arg("requested_schema") = nb::none());
}

std::string what_if(const HeldRecording& self, std::vector<std::pair<std::string, double>> scale, std::vector<std::string> remove,
                    std::vector<std::string> overlap) {
  const ReleasedGil unlocked;
  return mtprof::what_if_json(
      analyze::what_if(*self.analysis(), {.scale = std::move(scale), .remove = std::move(remove), .overlap = std::move(overlap)}));
}

void write_report(const HeldRecording& self, const std::string& path, const HeldRecording* baseline) {
  const ReleasedGil unlocked;
  self.with_metadata([&](const Analysis& analysis) {
    std::optional<exporter::Comparison> comparison;
    if (baseline != nullptr) comparison = {.baseline = base_name(*baseline), .diff = compare(*baseline, self, {}, 0.99)};
    exporter::write_report(analysis, analyze::make_report(analysis, analyze::kMostSteps, mtprof::known_peaks()), path, base_name(self),
                           comparison ? &*comparison : nullptr);
  });
}

void export_to(const HeldRecording& self, const std::string& path, bool apart) {
  const ReleasedGil unlocked;
  const auto write = [&] { self.with_metadata([&](const Analysis& analysis) { exporter::export_trace(analysis, path); }); };
  apart ? with_own_descriptors(write) : write();
}

void export_chrome_trace(const HeldRecording& self, const std::string& path, bool apart) {
  const ReleasedGil unlocked;
  const auto write = [&] {
    self.with_metadata([&](const Analysis& analysis) { exporter::export_chrome_trace(analysis.recording(), path); });
  };
  apart ? with_own_descriptors(write) : write();
}

void export_stacks(const HeldRecording& self, const std::string& path, const std::string& metric) {
  const ReleasedGil unlocked;
  exporter::write_recorded_stacks(*self.analysis(), path, metric);
}

void export_memory_timeline(const HeldRecording& self, const std::string& path, const std::optional<std::string>& device) {
  const ReleasedGil unlocked;
  exporter::write_memory_timeline(*self.analysis(), exporter::memory_device(self.analysis()->recording(), device), path);
}

struct Steps {
  std::vector<analyze::Step> all;
};

Steps steps(const HeldRecording& self) {
  const ReleasedGil unlocked;
  return {analyze::steps(*self.analysis())};
}

// What the threads did whenever a sampler looked at them.
struct Samples {
  std::shared_ptr<const Analysis> analysis;
};

const analyze::Step& step_at(const Steps& steps, std::ptrdiff_t position) {
  const auto size = static_cast<std::ptrdiff_t>(steps.all.size());
  if (position < 0) position += size;
  if (position < 0 || position >= size) throw nb::index_error("there are fewer steps");
  return steps.all[static_cast<std::size_t>(position)];
}

void bind_steps(nb::module_& module) {
  using analyze::Step;
  nb::class_<Step>(module, "Step", "How long a step of the loop took.")
      .def_ro("number", &Step::number)
      .def_ro("start_ns", &Step::start_ns)
      .def_ro("duration_ns", &Step::duration_ns)
      .def_ro("events", &Step::events, "Host events that start in it.")
      .def_ro("device_ns", &Step::device_ns, "Device work that was launched in it.")
      .def("__repr__", [](const Step& self) {
        return to_text(fmt::format("<Step number={} duration_ns={} events={} device_ns={}>", self.number, self.duration_ns, self.events,
                                   self.device_ns));
      });
  nb::class_<Steps>(module, "Steps", "Steps in order of time: a sequence, and a table for Arrow.")
      .def("__len__", [](const Steps& self) { return self.all.size(); })
      .def("__getitem__", &step_at, nb::arg("position"), nb::rv_policy::copy)
      .def("__repr__", [](const Steps& self) { return to_text(fmt::format("<{} steps>", self.all.size())); })
      .def(
          "__arrow_c_stream__",
          [](const Steps& self, nb::handle) {
            return stream_capsule([&](ArrowArrayStream* out) { exporter::open_steps_stream(self.all, out); });
          },
          nb::arg("requested_schema") = nb::none());
}

void bind_samples(nb::module_& module) {
  nb::class_<Samples>(module, "Samples", "Samples of threads, as a table for Arrow.")
      .def("__len__", [](const Samples& self) { return self.analysis->recording().samples.time_ns.size(); })
      .def(
          "__arrow_c_stream__",
          [](const Samples& self, nb::handle) {
            return stream_capsule([&](ArrowArrayStream* out) { exporter::open_samples_stream(self.analysis->recording(), out); });
          },
          nb::arg("requested_schema") = nb::none());
}

void bind_loss(nb::module_& module) {
  nb::class_<trace::Loss>(module, "Loss", "Events that are missing, and why.")
      .def_prop_ro("reason", [](const trace::Loss& self) { return to_text(trace::loss_reason_name(self.reason)); })
      .def_ro("count", &trace::Loss::count)
      .def_prop_ro("where", [](const trace::Loss& self) { return to_text(self.where); })
      .def_prop_ro("detail", [](const trace::Loss& self) { return to_text(self.detail); })
      .def("__repr__", [](const trace::Loss& self) {
        return to_text(fmt::format("<Loss reason={} count={} where={} detail={}>", trace::loss_reason_name(self.reason), self.count,
                                   self.where, self.detail));
      });
}

void def_answers(Class& type) {
  type.def("_events", [](const HeldRecording& self) { return EventSequence(self.analysis()); })
      .def("_findings", &findings, "JSON of `mtprof report --json`.")
      .def("_info", &info, "JSON of `mtprof info --json`.")
      .def("_diff", &diff, nb::arg("other"), nb::arg("by_shape"), nb::arg("by_module"), nb::arg("confidence"),
           "What changed from this run to the other: JSON of `mtprof diff --json`, and the text.")
      .def("_what_if", &what_if, nb::arg("scale"), nb::arg("remove"), nb::arg("overlap"), "JSON of `mtprof what-if --json`.")
      .def("_check", &check, nb::arg("baseline"), nb::arg("limits"), "JSON of `mtprof check --json`, and the text.")
      .def("_efficiency", &efficiency, nb::arg("files"), nb::arg("changes"), "JSON of `mtprof efficiency --json`, and the text.")
      .def("_efficiency_table", &efficiency_tables)
      .def(
          "samples", [](const HeldRecording& self) { return Samples{self.analysis()}; },
          "What the threads of Python did whenever a sampler looked at them, as a table for Arrow.")
      .def("steps", &steps, "How long each step of the loop took; none if the recording has no steps.")
      .def(
          "losses", [](const HeldRecording& self) { return self.analysis()->recording().losses; }, "Events that are missing, and why.");
}

void def_files(Class& type) {
  type.def("_report", &write_report, nb::arg("path"), nb::arg("baseline").none())
      .def("_export", &export_to, nb::arg("path"), nb::arg("apart") = false,
           "In the format that the suffix names; `apart`: with descriptors that the program cannot close meanwhile.")
      .def("_export_chrome_trace", &export_chrome_trace, nb::arg("path"), nb::arg("apart") = false)
      .def("_export_stacks", &export_stacks, nb::arg("path"), nb::arg("metric"))
      .def("_export_memory_timeline", &export_memory_timeline, nb::arg("path"), nb::arg("device").none())
      .def(
          "_add_metadata_json",
          [](const HeldRecording& self, const std::string& key, const std::string& json) {
            const ReleasedGil unlocked;  // a writer may wait for the GIL
            self.add_metadata(key, json);
          },
          nb::arg("key"), nb::arg("value"));
}

}  // namespace

void bind_recording(nb::module_& module) {
  bind_steps(module);
  bind_samples(module);
  bind_efficiency(module);
  bind_loss(module);
  Class type(module, "Recording", nb::is_weak_referenceable(), "What was recorded. Use mindtorch_v2.profiler.Recording.");
  type.def(nb::init<const HeldRecording&>(), nb::arg("other"), "The same recording.")
      .def(
          "__init__",
          [](HeldRecording* self, const std::string& path, std::uint64_t max_memory) { new (self) HeldRecording(load(path, max_memory)); },
          nb::arg("path"), nb::arg("max_memory") = 0, "A recording or a Chrome trace. Reading takes at most so many bytes of memory.")
      .def_prop_ro(
          "damage", [](const HeldRecording& self) { return self.file().damage; },
          "What is wrong with its file; None if nothing is. The recording holds what could be read.")
      .def_prop_ro("event_count", [](const HeldRecording& self) { return self.analysis()->recording().events.size(); })
      .def_prop_ro(
          "name", [](const HeldRecording& self) { return self.file().name; }, "The path of its file; \"\" if it was not read from one.");
  def_answers(type);
  def_files(type);
}

}  // namespace mindtorch::python

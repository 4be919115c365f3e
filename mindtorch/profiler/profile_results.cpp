// Profile: the results, as torch's lists and files.
#include "mindtorch/base/error.h"
#include "mindtorch/export/export_trace.h"
#include "mindtorch/export/html/memory_timeline_writer.h"
#include "mindtorch/export/stacks/stacks_writer.h"
#include "mindtorch/profiler/profile.h"

namespace mindtorch::profiler {

void Profile::require_prepared(std::string_view doing) const {
  if (!trace_id_) throw AssertionFailed(fmt::format("Profiler must be initialized before {}", doing));
}

std::shared_ptr<const analyze::Analysis> Profile::checked_analysis(std::string_view doing) const {
  require_prepared(doing);
  if (options_.experimental_config.trace_only)
    throw Error("events() is not available when trace_only=True in ExperimentalConfig. Use export_chrome_trace() instead.");
  return results_.analysis();
}

std::shared_ptr<const trace::Recording> Profile::checked_cycle(std::string_view doing) const {
  require_prepared(doing);
  if (results_.empty()) throw_error("profiler.export", "the first trace has not ended yet: call stop() first");
  return results_.last_cycle();
}

const analyze::Events& Profile::events() const { return checked_analysis("accessing events")->events(); }

analyze::KeyAverages Profile::key_averages(const analyze::GroupOptions& options) const {
  return analyze::key_averages(*checked_analysis("getting key averages"), options);
}

void Profile::export_chrome_trace(const std::string& path) const {
  exporter::export_chrome_trace(*checked_cycle("exporting chrome trace"), path);
}

void Profile::export_trace(const std::string& path) const { exporter::export_trace(*checked_cycle("exporting trace"), path); }

void Profile::check_stacks() const {
  static_cast<void>(checked_analysis("exporting stacks"));
  if (!options_.with_stack) throw AssertionFailed("export_stacks() requires with_stack=True");
}

void Profile::export_stacks(const std::string& path, std::string_view metric) const {
  check_stacks();
  exporter::write_recorded_stacks(*results_.analysis(), path, metric);
}

void Profile::check_memory_timeline() const {
  std::string missing;
  const auto require = [&](bool on, std::string_view option) {
    if (!on) missing += fmt::format("{}{}=True", missing.empty() ? "" : ", ", option);
  };
  require(options_.record_shapes, "record_shapes");
  require(options_.profile_memory, "profile_memory");
  require(options_.with_stack, "with_stack");
  if (!missing.empty()) throw InvalidArgument(missing + " required for memory profiling.");
  if (!trace_id_) throw AssertionFailed("Profiler and kineto_results must be initialized for memory profiling");
}

void Profile::export_memory_timeline(const std::string& path, std::optional<std::string_view> device) const {
  check_memory_timeline();
  const auto cycle = checked_cycle("exporting memory timeline");
  exporter::write_memory_timeline(analyze::Analysis(cycle), exporter::memory_device(*cycle, device), path);
}

}  // namespace mindtorch::profiler

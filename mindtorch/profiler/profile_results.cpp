// Profile: the results, as torch's lists and files.
#include <utility>

#include "mindtorch/analyze/stacks.h"
#include "mindtorch/base/error.h"
#include "mindtorch/export/chrome/chrome_writer.h"
#include "mindtorch/export/export_trace.h"
#include "mindtorch/export/html/memory_timeline_writer.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/perfetto/perfetto_writer.h"
#include "mindtorch/profiler/profile.h"
#include "mindtorch/trace/text.h"

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

void Profile::write_chrome_trace(const trace::Recording& cycle, const std::string& path) {
  const bool perfetto = path.ends_with(".pftrace") || path.ends_with(".pftrace.gz");
  perfetto ? exporter::write_perfetto_trace(cycle, path) : exporter::write_chrome_trace(cycle, path);
}

void Profile::export_chrome_trace(const std::string& path) const { write_chrome_trace(*checked_cycle("exporting chrome trace"), path); }

void Profile::export_trace(const std::string& path) const { exporter::export_trace(*checked_cycle("exporting trace"), path); }

std::shared_ptr<const analyze::Analysis> Profile::checked_stacks_analysis() const {
  auto analysis = checked_analysis("exporting stacks");
  if (!options_.with_stack) throw AssertionFailed("export_stacks() requires with_stack=True");
  return analysis;
}

void Profile::write_stacks(const analyze::Analysis& analysis, const std::string& path, std::string_view metric) {
  exporter::write_output(path, analyze::collapsed_text(analyze::collapsed_stacks(analysis, metric)));
}

void Profile::export_stacks(const std::string& path, std::string_view metric) const {
  write_stacks(*checked_stacks_analysis(), path, metric);
}

std::shared_ptr<const trace::Recording> Profile::checked_memory_cycle() const {
  std::string missing;
  const auto require = [&](bool on, std::string_view option) {
    if (!on) missing += fmt::format("{}{}=True", missing.empty() ? "" : ", ", option);
  };
  require(options_.record_shapes, "record_shapes");
  require(options_.profile_memory, "profile_memory");
  require(options_.with_stack, "with_stack");
  if (!missing.empty()) throw InvalidArgument(missing + " required for memory profiling.");
  if (!trace_id_) throw AssertionFailed("Profiler and kineto_results must be initialized for memory profiling");
  return checked_cycle("exporting memory timeline");
}

void Profile::write_memory_timeline(std::shared_ptr<const trace::Recording> cycle, const std::string& path,
                                    std::optional<std::string_view> device) {
  const trace::Device chosen = device ? trace::parse_device(*device) : exporter::default_memory_device(*cycle);
  exporter::write_memory_timeline(analyze::Analysis(std::move(cycle)), chosen, path);
}

void Profile::export_memory_timeline(const std::string& path, std::optional<std::string_view> device) const {
  write_memory_timeline(checked_memory_cycle(), path, device);
}

}  // namespace mindtorch::profiler

// Profile: what was recorded, as torch's lists and files.
#include "mindtorch/analyze/stacks.h"
#include "mindtorch/base/error.h"
#include "mindtorch/export/chrome/chrome_writer.h"
#include "mindtorch/export/export_trace.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/perfetto/perfetto_writer.h"
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

void Profile::write_chrome_trace(const trace::Recording& cycle, const std::string& path) {
  const bool perfetto = path.ends_with(".pftrace") || path.ends_with(".pftrace.gz");
  perfetto ? exporter::write_perfetto_trace(cycle, path) : exporter::write_chrome_trace(cycle, path);
}

void Profile::export_chrome_trace(const std::string& path) const { write_chrome_trace(*checked_cycle("exporting chrome trace"), path); }

void Profile::export_trace(const std::string& path) const { exporter::export_trace(*checked_cycle("exporting trace"), path); }

void Profile::export_stacks(const std::string& path, std::string_view metric) const {
  const auto analysis = checked_analysis("exporting stacks");
  if (!options_.with_stack) throw AssertionFailed("export_stacks() requires with_stack=True");
  exporter::write_output(path, analyze::collapsed_text(analyze::collapsed_stacks(*analysis, metric)));
}

}  // namespace mindtorch::profiler

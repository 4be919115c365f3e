// Profile: what was recorded, as torch's lists and files.
#include "mindtorch/analyze/stacks.h"
#include "mindtorch/base/error.h"
#include "mindtorch/export/chrome/chrome_writer.h"
#include "mindtorch/export/export_trace.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/perfetto/perfetto_writer.h"
#include "mindtorch/profiler/profile.h"

namespace mindtorch::profiler {

void Profile::require_prepared(std::string_view what) const {
  if (!trace_id_) throw AssertionFailed(fmt::format("Profiler must be initialized before {}", what));
}

void Profile::refuse_trace_only() const {
  if (options_.experimental_config.trace_only)
    throw Error("events() is not available when trace_only=True in ExperimentalConfig. Use export_chrome_trace() instead.");
}

const trace::Recording& Profile::finished_cycle(std::string_view where) const {
  if (results_.empty()) throw_error(where, "the first trace has not ended yet: call stop() first");
  return *results_.last_cycle();
}

const analyze::Events& Profile::events() const {
  require_prepared("accessing events");
  refuse_trace_only();
  return results_.analysis()->events();
}

analyze::KeyAverages Profile::key_averages(const analyze::GroupOptions& options) const {
  require_prepared("getting key averages");
  refuse_trace_only();
  return analyze::key_averages(*results_.analysis(), options);
}

void Profile::export_chrome_trace(const std::string& path) const {
  require_prepared("exporting chrome trace");
  const trace::Recording& recording = finished_cycle("profiler.export_chrome_trace");
  const bool perfetto = path.ends_with(".pftrace") || path.ends_with(".pftrace.gz");
  perfetto ? exporter::write_perfetto_trace(recording, path) : exporter::write_chrome_trace(recording, path);
}

void Profile::export_trace(const std::string& path) const {
  require_prepared("exporting trace");
  exporter::export_trace(finished_cycle("profiler.export_trace"), path);
}

void Profile::export_stacks(const std::string& path, std::string_view metric) const {
  require_prepared("exporting stacks");
  refuse_trace_only();
  if (!options_.with_stack) throw AssertionFailed("export_stacks() requires with_stack=True");
  exporter::write_output(path, analyze::collapsed_text(analyze::collapsed_stacks(*results_.analysis(), metric)));
}

}  // namespace mindtorch::profiler

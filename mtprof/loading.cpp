// Looks at how a file starts and asks the right reader.
#include "mtprof/loading.h"

#include <filesystem>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/trace/file.h"
#include "mtprof/progress.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {

Loaded load(const std::string& path, const exporter::ChromeReadOptions& options) {
  const Progress progress("reading " + shown(path));
  Loaded loaded;
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  loaded.file_size = ignored ? 0 : size;
  if (trace::is_recording_file(path)) {
    trace::LoadResult result = trace::load(path);
    loaded.format = "recording";
    loaded.recording = std::move(result.recording);
    loaded.damage = std::move(result.damage);
  } else {
    exporter::ChromeReadResult result = exporter::read_chrome_trace(path, options);
    loaded.format = "Chrome trace";
    loaded.recording = std::move(result.recording);
    loaded.damage = std::move(result.damage);
    loaded.skipped = std::move(result.skipped);
    loaded.flows = result.flows;
  }
  return loaded;
}

ProfiledRun load_profile(const std::string& path, const analyze::StepProfileOptions& options) {
  const Loaded loaded = load(path);
  if (loaded.damage) fmt::print(stderr, "mtprof: {} is damaged: {}\n", path, *loaded.damage);
  const analyze::Analysis analysis(loaded.recording);
  return {analyze::step_profile(analysis, options), loaded.damage.has_value()};
}

}  // namespace mindtorch::mtprof

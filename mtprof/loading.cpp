// Loading with progress.
#include "mtprof/loading.h"

#include <fmt/format.h>

#include "mindtorch/analyze/analysis.h"
#include "mtprof/progress.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {

Loaded load(const std::string& path, const ingest::ChromeReadOptions& options) {
  const Progress progress("reading " + shown(path));
  return ingest::load_trace(path, options);
}

ProfiledRun load_profile(const std::string& path, const analyze::StepProfileOptions& options) {
  const Loaded loaded = load(path);
  if (loaded.damage) fmt::print(stderr, "mtprof: {} is damaged: {}\n", path, *loaded.damage);
  const analyze::Analysis analysis(loaded.recording);
  return {analyze::step_profile(analysis, options), loaded.damage.has_value()};
}

}  // namespace mindtorch::mtprof

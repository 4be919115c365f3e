// The page about a run: loaded, analyzed, compared and written.
#include "mtprof/page.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/export/report/report_writer.h"
#include "mtprof/progress.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {
namespace {

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace

WrittenPage write_page(const PageRequest& request) {
  WrittenPage page;
  const analyze::KnownPeaks peaks = known_peaks(request.peaks);
  std::optional<ProfiledRun> baseline;
  if (!request.baseline.empty()) baseline = load_profile({request.baseline, request.input.max_memory}, request.profile);
  const Loaded loaded = load(request.input);
  const analyze::Analysis analysis(loaded.recording);
  std::optional<exporter::Comparison> comparison;
  {
    const Progress progress("looking at " + shown(request.input.file));
    page.report = analyze::make_report(analysis, analyze::kMostSteps, peaks);
    if (baseline) {
      page.diff = analyze::diff_runs(baseline->profile, analyze::step_profile(analysis, request.profile), request.confidence);
      comparison = {.baseline = file_name(request.baseline), .diff = *page.diff, .is_first_view = request.opens_with_comparison};
    }
  }
  exporter::write_report(analysis, page.report, request.output, file_name(request.input.file), comparison ? &*comparison : nullptr);
  tell_damage(request.input.file, loaded);
  page.is_damaged = loaded.damage.has_value() || (baseline && baseline->is_damaged);
  return page;
}

std::string page_line(const std::string& path) {
  std::error_code code;
  return fmt::format("{} ({:.1f} MB)", shown(path), static_cast<double>(std::filesystem::file_size(path, code)) / 1e6);
}

}  // namespace mindtorch::mtprof

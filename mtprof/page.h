// The page about a run, and about what changed since another run. The commands report and diff write it.
#pragma once

#include <optional>
#include <string>

#include "mindtorch/analyze/diff/diff.h"
#include "mindtorch/analyze/report/report.h"
#include "mtprof/loading.h"
#include "mtprof/peaks.h"

namespace mindtorch::mtprof {

struct PageRequest {
  Input input;
  std::string output;
  std::string baseline;                 // the run to compare with; empty: none
  analyze::StepProfileOptions profile;  // of the comparison
  double confidence = 0.99;             // of the comparison
  bool opens_with_comparison = false;
  PeakOptions peaks;  // besides those that are known
};

struct WrittenPage {
  analyze::Report report;
  std::optional<analyze::Diff> diff;
  bool is_damaged = false;  // one of the files; it is told on standard error
};

// Throws what ingest::load_trace() and exporter::write_report() throw.
WrittenPage write_page(const PageRequest& request);

// "page.html (0.3 MB)", for the last line of a command.
std::string page_line(const std::string& path);

}  // namespace mindtorch::mtprof

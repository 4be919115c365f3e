// mtprof report: one page about a recording, and what it found.
#include "mindtorch/analyze/report/report.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/report/report_json.h"
#include "mindtorch/export/report/report_text.h"
#include "mtprof/commands.h"
#include "mtprof/diff_output.h"
#include "mtprof/loading.h"
#include "mtprof/page.h"

namespace mindtorch::mtprof {
namespace {

struct Arguments {
  PageRequest page;
  bool json = false;
  bool text = false;
  bool quiet = false;
  bool force = false;

  Files files() const { return {{page.input.file, page.baseline}, {{"-o", page.output}}, force}; }
};

// "runs/train.json.gz" -> "runs/train.report.html"
std::string default_output(const std::string& file) {
  std::filesystem::path path(file);
  if (path.extension() == ".gz") path.replace_extension();
  return path.replace_extension(".report.html").string();
}

// The report for a terminal or for a program, without a page.
int run_without_page(const Arguments& arguments) {
  const analyze::KnownPeaks peaks = known_peaks(arguments.page.peaks);
  const Loaded loaded = load(arguments.page.input);
  const analyze::Analysis analysis(loaded.recording);
  const analyze::Report report = analyze::make_report(analysis, analyze::kMostSteps, peaks);
  if (!arguments.page.output.empty()) exporter::write_output(arguments.page.output, exporter::findings_json(report));
  if (!arguments.quiet) fmt::print("{}", arguments.json ? exporter::findings_json(report) : exporter::report_text(report));
  tell_damage(arguments.page.input.file, loaded);
  return loaded.damage ? 1 : 0;
}

int run_report(const Arguments& arguments) {
  const PageRequest& page = arguments.page;
  if (page.output.empty() || page.output.ends_with(".json")) return run_without_page(arguments);
  const WrittenPage written = write_page(page);
  if (arguments.json) {
    fmt::print("{}", exporter::findings_json(written.report));
  } else if (!arguments.quiet) {
    fmt::print("{}\n", exporter::report_text(written.report));
    if (written.diff) fmt::print("{}", diff_text(*written.diff, {page.baseline, page.input.file}, 5, false));
    fmt::print("{}\n", page_line(page.output));
  }
  return written.is_damaged ? 1 : 0;
}

}  // namespace

void add_report(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("report", "One page for a browser: where time and memory went, and what to do about it");
  const auto arguments = std::make_shared<Arguments>();
  add_input(*command, arguments->page.input);
  command->add_option("-o,--output", arguments->page.output,
                      "A file: .json for the findings, any other suffix for the page; default: FILE with the suffix .report.html");
  command->add_option("--baseline", arguments->page.baseline, "Another run; the page shows what changed since then");
  add_peak_options(*command, arguments->page.peaks);
  auto* json = command->add_flag("--json", arguments->json, "Print the findings as JSON instead of writing a page; with -o, do both");
  command->add_flag("--text", arguments->text, "Print the report instead of writing a page; with -o, do both")->excludes(json);
  command->add_flag("--quiet", arguments->quiet, "Print nothing but errors")->excludes(json);
  add_force(*command, arguments->force);
  command->callback([arguments, &run] {
    PageRequest& page = arguments->page;
    const bool is_print_only = (arguments->text || arguments->json) && page.baseline.empty();
    if (page.output.empty() && !is_print_only) page.output = default_output(page.input.file);
    run = {arguments->files(), [arguments] { return run_report(*arguments); }};
  });
}

}  // namespace mindtorch::mtprof

// mtprof report: one page about a recording, and what it found.
#include "mindtorch/analyze/report/report.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "mindtorch/analyze/units.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/report/report_json.h"
#include "mtprof/commands.h"
#include "mtprof/diff_output.h"
#include "mtprof/page.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {
namespace {

struct Arguments {
  PageRequest page;
  std::string json;
  bool quiet = false;
};

// "runs/train.json.gz" -> "runs/train.report.html"
std::string default_output(const std::string& file) {
  std::filesystem::path path(file);
  if (path.extension() == ".gz") path.replace_extension();
  return path.replace_extension(".report.html").string();
}

void print_findings(const analyze::Report& report) {
  if (report.has_steps)
    fmt::print("{} steps, median {}\n", report.step_count, analyze::format_time(static_cast<double>(report.median_step_ns) / 1000));
  for (const analyze::Finding& finding : report.findings) {
    fmt::print("- {}: {} per step ({:.0f} %)\n", finding.title, analyze::format_time(static_cast<double>(finding.cost_ns) / 1000),
               100 * finding.share);
    for (const std::string& line : finding.lines) fmt::print("    {}\n", shown(line));
  }
  if (report.findings.empty()) fmt::print("No findings.\n");
}

int run_report(Arguments arguments) {
  PageRequest& page = arguments.page;
  if (page.output.empty()) page.output = default_output(page.input.file);
  const WrittenPage written = write_page(page);
  if (!arguments.json.empty()) exporter::write_output(arguments.json, exporter::findings_json(written.report));
  if (!arguments.quiet) {
    print_findings(written.report);
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
  command->add_option("-o,--output", arguments->page.output, "The page; default: FILE with the suffix .report.html");
  command->add_option("--baseline", arguments->page.baseline, "Another run; the page shows what changed since then");
  command->add_option("--json", arguments->json, "A file for the findings as JSON");
  command->add_flag("--quiet", arguments->quiet, "Print nothing but errors");
  command->callback([arguments, &run] { run = [arguments] { return run_report(*arguments); }; });
}

}  // namespace mindtorch::mtprof

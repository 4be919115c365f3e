// mtprof report: one page about a recording, and what it found.
#include "mindtorch/analyze/report/report.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/units.h"
#include "mindtorch/export/output.h"
#include "mindtorch/export/report/report_json.h"
#include "mindtorch/export/report/report_writer.h"
#include "mtprof/commands.h"
#include "mtprof/loading.h"
#include "mtprof/progress.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {
namespace {

struct Arguments {
  Input input;
  std::string output;
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

int run_report(const Arguments& arguments) {
  const Loaded loaded = load(arguments.input);
  const analyze::Analysis analysis(loaded.recording);
  const std::string output = arguments.output.empty() ? default_output(arguments.input.file) : arguments.output;
  const std::string title = std::filesystem::path(arguments.input.file).filename().string();
  const analyze::Report report = [&] {
    const Progress progress("looking at " + shown(arguments.input.file));
    return analyze::make_report(analysis);
  }();
  exporter::write_report(analysis, report, output, title);
  if (!arguments.json.empty()) exporter::write_output(arguments.json, exporter::findings_json(report));
  if (!arguments.quiet) {
    print_findings(report);
    std::error_code code;
    fmt::print("{} ({:.1f} MB)\n", shown(output), static_cast<double>(std::filesystem::file_size(output, code)) / 1e6);
  }
  if (loaded.damage) fmt::print(stderr, "mtprof: {} is damaged: {}\n", shown(arguments.input.file), shown(*loaded.damage));
  return loaded.damage ? 1 : 0;
}

}  // namespace

void add_report(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("report", "One page for a browser: where time and memory went, and what to do about it");
  const auto arguments = std::make_shared<Arguments>();
  add_input(*command, arguments->input);
  command->add_option("-o,--output", arguments->output, "The page; default: FILE with the suffix .report.html");
  command->add_option("--json", arguments->json, "A file for the findings as JSON");
  command->add_flag("--quiet", arguments->quiet, "Print nothing but errors");
  command->callback([arguments, &run] { run = [arguments] { return run_report(*arguments); }; });
}

}  // namespace mindtorch::mtprof

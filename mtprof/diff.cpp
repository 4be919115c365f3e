// mtprof diff: what changed between two runs.
#include "mindtorch/analyze/diff/diff.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "mindtorch/export/output.h"
#include "mtprof/commands.h"
#include "mtprof/diff_output.h"
#include "mtprof/loading.h"
#include "mtprof/page.h"

namespace mindtorch::mtprof {
namespace {

struct Arguments {
  std::uint64_t max_memory = 0;
  DiffNames files;
  analyze::StepProfileOptions profile;
  double confidence = 0.99;
  std::string output;
  int row_limit = 30;
  bool all = false;
  bool json = false;
  bool csv = false;
};

struct Compared {
  analyze::Diff diff;
  bool is_damaged = false;
};

Compared compare(const Arguments& arguments) {
  if (arguments.output.ends_with(".html")) {
    WrittenPage page = write_page({.input = {arguments.files.after, arguments.max_memory},
                                   .output = arguments.output,
                                   .baseline = arguments.files.before,
                                   .profile = arguments.profile,
                                   .confidence = arguments.confidence,
                                   .opens_with_comparison = true});
    return {std::move(*page.diff), page.is_damaged};
  }
  const ProfiledRun before = load_profile({arguments.files.before, arguments.max_memory}, arguments.profile);
  const ProfiledRun after = load_profile({arguments.files.after, arguments.max_memory}, arguments.profile);
  return {analyze::diff_runs(before.profile, after.profile, arguments.confidence), before.is_damaged || after.is_damaged};
}

int run_diff(const Arguments& arguments) {
  const Compared compared = compare(arguments);
  const std::string& output = arguments.output;
  const bool is_json = arguments.json || output.ends_with(".json"), is_csv = arguments.csv || output.ends_with(".csv");
  const std::string text = is_json  ? diff_json(compared.diff, arguments.files)
                           : is_csv ? diff_csv(compared.diff)
                                    : diff_text(compared.diff, arguments.files, arguments.row_limit, arguments.all);
  if (output.empty() || output.ends_with(".html")) {
    fmt::print("{}", text);
  } else {
    exporter::write_output(output, text);
  }
  if (output.ends_with(".html") && !is_json && !is_csv) fmt::print("{}\n", page_line(output));
  return compared.is_damaged ? 1 : 0;
}

}  // namespace

void add_diff(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("diff", "What changed between two runs, told apart from noise");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("BEFORE", arguments->files.before, "A recording or a Chrome trace")->required();
  command->add_option("AFTER", arguments->files.after, "A later run of the same program")->required();
  add_max_memory(*command, arguments->max_memory);
  command->add_flag("--by-shape", arguments->profile.by_shape, "One row for each set of input shapes");
  command->add_flag("--by-module", arguments->profile.by_module, "One row for each module around an op");
  command->add_option("--confidence", arguments->confidence, "Probability that equal runs show no change in any row")
      ->check(CLI::Range(0.5, 0.999999))
      ->capture_default_str();
  command->add_option("-o,--output", arguments->output, "A file: .html for a page, .json, .csv; other suffixes give the text");
  command->add_option("--limit", arguments->row_limit, "Most rows to show; -1 for all")->capture_default_str();
  command->add_flag("--all", arguments->all, "Rows without a change too");
  auto* json = command->add_flag("--json", arguments->json, "Every row as JSON");
  command->add_flag("--csv", arguments->csv, "Every row as CSV")->excludes(json);
  command->callback([arguments, &run] { run = [arguments] { return run_diff(*arguments); }; });
}

}  // namespace mindtorch::mtprof

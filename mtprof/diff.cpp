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
#include "mtprof/values.h"

namespace mindtorch::mtprof {
namespace {

struct Arguments {
  RunPair runs;
  analyze::StepProfileOptions profile;
  double confidence = 0.99;
  std::string output;
  int row_limit = 30;
  bool all = false;
  bool json = false;
  bool csv = false;
  bool force = false;
};

struct Compared {
  analyze::Diff diff;
  bool is_damaged = false;
};

Compared compare(const Arguments& arguments) {
  if (arguments.output.ends_with(".html")) {
    WrittenPage page = write_page({.input = {arguments.runs.after, arguments.runs.max_memory},
                                   .output = arguments.output,
                                   .baseline = arguments.runs.before,
                                   .profile = arguments.profile,
                                   .confidence = arguments.confidence,
                                   .opens_with_comparison = true});
    return {std::move(*page.diff), page.is_damaged};
  }
  const ProfiledRun before = load_profile({arguments.runs.before, arguments.runs.max_memory}, arguments.profile);
  const ProfiledRun after = load_profile({arguments.runs.after, arguments.runs.max_memory}, arguments.profile);
  return {analyze::diff_runs(before.profile, after.profile, arguments.confidence), before.is_damaged || after.is_damaged};
}

int run_diff(const Arguments& arguments) {
  const Compared compared = compare(arguments);
  const std::string& output = arguments.output;
  const DiffNames names{arguments.runs.before, arguments.runs.after};
  const bool is_json = arguments.json || output.ends_with(".json"), is_csv = arguments.csv || output.ends_with(".csv");
  const std::string text = is_json  ? diff_json(compared.diff, names)
                           : is_csv ? diff_csv(compared.diff)
                                    : diff_text(compared.diff, names, arguments.row_limit, arguments.all);
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
  add_pair(*command, arguments->runs);
  command->add_flag("--by-shape", arguments->profile.by_shape, "One row for each set of input shapes");
  command->add_flag("--by-module", arguments->profile.by_module, "One row for each module around an op");
  command->add_option("--confidence", arguments->confidence, "Probability that equal runs show no change in any row")
      ->check(number(0.5, 0.999999))
      ->capture_default_str();
  command->add_option("-o,--output", arguments->output, "A file: .html for a page, .json, .csv; other suffixes give the text");
  command->add_option("--limit", arguments->row_limit, "Most rows to show; -1 for all")->check(whole_number(-1))->capture_default_str();
  command->add_flag("--all", arguments->all, "Rows without a change too");
  auto* json = command->add_flag("--json", arguments->json, "Every row as JSON");
  command->add_flag("--csv", arguments->csv, "Every row as CSV")->excludes(json);
  add_force(*command, arguments->force);
  command->callback([arguments, &run] {
    set_pair(arguments->runs, true);
    run = {{{arguments->runs.before, arguments->runs.after}, {{"-o", arguments->output}}, arguments->force},
           [arguments] { return run_diff(*arguments); }};
  });
}

}  // namespace mindtorch::mtprof

// mtprof efficiency: how far ops, kernels, modules and steps were from what their device can do.
#include "mindtorch/analyze/efficiency/efficiency.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/export/report/efficiency_json.h"
#include "mindtorch/export/tabular/tabular.h"
#include "mtprof/commands.h"
#include "mtprof/efficiency_output.h"
#include "mtprof/loading.h"
#include "mtprof/peaks.h"
#include "mtprof/values.h"

namespace mindtorch::mtprof {
namespace {

struct Arguments {
  Input input;
  PeakOptions peaks;
  std::string table = "ops";
  int limit = 30;
  bool json = false;
  bool csv = false;
};

int run_efficiency(const Arguments& arguments) {
  const analyze::KnownPeaks peaks = known_peaks(arguments.peaks);
  const Loaded loaded = load(arguments.input);
  const analyze::Analysis analysis(loaded.recording);
  const analyze::Efficiency efficiency = analyze::find_efficiency(analysis, peaks);
  const std::size_t most_rows = arguments.limit < 0 ? ~std::size_t{0} : static_cast<std::size_t>(arguments.limit);
  if (arguments.json) {
    fmt::print("{}\n", exporter::efficiency_json(efficiency, ~std::size_t{0}));
  } else if (arguments.csv) {
    exporter::write_efficiency_csv(efficiency, [](std::string_view text) { fmt::print("{}", text); });
  } else {
    fmt::print("{}", efficiency_text(efficiency, efficiency_table(arguments.table), most_rows));
  }
  tell_damage(arguments.input.file, loaded);
  return loaded.damage ? 1 : 0;
}

}  // namespace

void add_efficiency(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("efficiency", "How far the work was from the limits of its device, by time above the limit");
  const auto arguments = std::make_shared<Arguments>();
  add_input(*command, arguments->input);
  command->add_option("--by", arguments->table, "One row for each of these")
      ->check(CLI::IsMember({"ops", "kernels", "modules", "steps"}))
      ->capture_default_str();
  command->add_option("--limit", arguments->limit, "Most rows to show; -1 for all")->check(whole_number(-1))->capture_default_str();
  add_peak_options(*command, arguments->peaks);
  auto* json = command->add_flag("--json", arguments->json, "Every row of every table as JSON");
  command->add_flag("--csv", arguments->csv, "Every row of ops, kernels and modules as CSV")->excludes(json);
  command->callback([arguments, &run] { run = {{}, [arguments] { return run_efficiency(*arguments); }}; });
}

}  // namespace mindtorch::mtprof

// mtprof table: averages by name, as torch's table, JSON or CSV.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/key_averages.h"
#include "mindtorch/export/tabular/tabular.h"
#include "mtprof/commands.h"
#include "mtprof/loading.h"
#include "mtprof/messages.h"
#include "mtprof/shown.h"
#include "mtprof/values.h"

namespace mindtorch::mtprof {
namespace {

struct Arguments {
  Input input;
  analyze::GroupOptions group;
  analyze::TableOptions table;
  bool json = false;
  bool csv = false;
};

// The library puts names into a table unchanged, as torch does; a terminal needs them without control characters.
void show_names(analyze::Average& row) {
  row.key = shown(row.key);
  row.overload_name = shown(row.overload_name);
  for (std::string& frame : row.stack) frame = shown(frame);
}

int run_table(const Arguments& arguments) {
  const Loaded loaded = load(arguments.input);
  const analyze::Analysis analysis(loaded.recording);
  analyze::KeyAverages averages = analyze::key_averages(analysis, arguments.group);
  const auto print = [](std::string_view text) { fmt::print("{}", text); };
  if (arguments.json) {
    exporter::write_averages_json(averages, print);
    fmt::print("\n");
  } else if (arguments.csv) {
    exporter::write_averages_csv(averages, print);
  } else {
    for (analyze::Average& row : averages.rows) show_names(row);
    print(averages.table(arguments.table));
  }
  if (loaded.damage) print_message("mtprof: {} is damaged: {}\n", shown(arguments.input.file), shown(*loaded.damage));
  return loaded.damage ? 1 : 0;
}

}  // namespace

void add_table(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("table", "Times by operator, as torch's key_averages().table()");
  const auto arguments = std::make_shared<Arguments>();
  arguments->table.sort_by = "self_cpu_time_total";
  add_input(*command, arguments->input);
  command->add_option("--sort-by", arguments->table.sort_by, "A column such as count, cpu_time_total or self_device_time_total")
      ->capture_default_str();
  command->add_option("--limit", arguments->table.row_limit, "Most rows to show; -1 for all")
      ->check(whole_number(-1))
      ->capture_default_str();
  command->add_option("--time-unit", arguments->table.time_unit, "s, ms or us for all times")->check(CLI::IsMember({"s", "ms", "us"}));
  command->add_flag("--by-shape", arguments->group.group_by_input_shape, "One row for each set of input shapes");
  command->add_option("--by-stack", arguments->group.group_by_stack_n, "One row for each N innermost frames of user code")
      ->check(whole_number(0));
  command->add_flag("--by-overload", arguments->group.group_by_overload_name, "One row for each overload");
  command->add_flag("--top-level", arguments->table.top_level_events_only, "Only what is not called by something else");
  auto* json = command->add_flag("--json", arguments->json, "Every row and field as JSON");
  command->add_flag("--csv", arguments->csv, "Every row and field as CSV")->excludes(json);
  command->callback([arguments, &run] { run = {{}, [arguments] { return run_table(*arguments); }}; });
}

}  // namespace mindtorch::mtprof

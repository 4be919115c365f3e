// mtprof validate: checks that a trace keeps the rules of its format.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "mindtorch/base/json_writer.h"
#include "mtprof/checks.h"
#include "mtprof/commands.h"
#include "mtprof/loading.h"
#include "mtprof/progress.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {
namespace {

struct Arguments {
  Input input;
  bool json = false;
};

void print_json(const std::string& file, const std::vector<Check>& checks, bool ok) {
  JsonWriter json;
  json.object([&] {
    json.field("file", file).field("ok", ok).list_field("checks", checks, [&](const Check& check) {
      json.object([&] {
        json.field("name", check.name).field("rule", check.rule).field("findings", check.findings);
        json.field("first", check.findings == 0 ? std::nullopt : std::optional(check.first));
      });
    });
  });
  fmt::print("{}\n", json.text());
}

int run_validate(const Arguments& arguments) {
  const Loaded loaded = load(arguments.input, CheckFlows::kYes);
  const std::vector<Check> checks = [&] {
    const Progress progress("checking");
    return run_checks(loaded);
  }();
  const bool ok = std::ranges::all_of(checks, [](const Check& check) { return check.findings == 0; });
  if (arguments.json) {
    print_json(arguments.input.file, checks, ok);
    return ok ? 0 : 1;
  }
  for (const Check& check : checks) {
    fmt::print("{:<5} {:<10} {}\n", check.findings == 0 ? "ok" : "WRONG", check.name, check.rule);
    if (check.findings > 0) fmt::print("{:17}{} found; first: {}\n", "", check.findings, shown(check.first));
  }
  return ok ? 0 : 1;
}

}  // namespace

void add_validate(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("validate", "Checks nesting, causality, launches, ids, window, flows and steps");
  const auto arguments = std::make_shared<Arguments>();
  add_input(*command, arguments->input);
  command->add_flag("--json", arguments->json, "The findings as JSON");
  command->callback([arguments, &run] { run = {{}, [arguments] { return run_validate(*arguments); }}; });
}

}  // namespace mindtorch::mtprof

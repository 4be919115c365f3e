// mtprof check: an exit status that tells whether a run exceeds its baseline.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "mindtorch/analyze/diff/limits.h"
#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "mtprof/check_output.h"
#include "mtprof/commands.h"
#include "mtprof/loading.h"

namespace mindtorch::mtprof {
namespace {

constexpr int kUndecided = 3;  // the exit status if no limit is exceeded, but the steps are too few to tell for one of them

struct Arguments {
  RunPair runs;
  std::vector<std::string> limits;
  std::string junit;
  bool json = false;
  bool github = false;
  bool force = false;
};

int run_check(const Arguments& arguments) {
  std::vector<analyze::Limit> limits;
  for (const std::string& text : arguments.limits) limits.push_back(analyze::parse_limit(text));
  const ProfiledRun baseline = load_profile({arguments.runs.before, arguments.runs.max_memory});
  const ProfiledRun run = load_profile({arguments.runs.after, arguments.runs.max_memory});
  const std::vector<analyze::Verdict> verdicts = analyze::check_limits(baseline.profile, run.profile, limits);
  fmt::print("{}", arguments.json ? verdicts_json(verdicts) : verdicts_text(verdicts));
  if (arguments.github) fmt::print("{}", verdicts_github(verdicts));
  if (!arguments.junit.empty()) {
    AtomicFile file(arguments.junit);
    file.write(verdicts_junit(verdicts));
    file.commit();
  }
  const auto has = [&](analyze::Verdict::Outcome outcome) {
    return std::ranges::find(verdicts, outcome, &analyze::Verdict::outcome) != verdicts.end();
  };
  if (has(analyze::Verdict::Outcome::kExceeded) || baseline.is_damaged || run.is_damaged) return 1;
  return has(analyze::Verdict::Outcome::kUnclear) ? kUndecided : 0;
}

}  // namespace

void add_check(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("check", "Fails if a run exceeds its baseline by more than the limits");
  command->footer(
      "Exit status: 0 all limits are kept, 1 one is exceeded or a file is damaged, 2 wrong usage, 3 the steps are too few to decide.");
  const auto arguments = std::make_shared<Arguments>();
  add_pair(*command, arguments->runs);
  command
      ->add_option("--max", arguments->limits,
                   "A limit: step_time=+3%, device_time=+3%, peak_memory=+5%, op:aten::mm=+10%, calls:aten::mm=0%")
      ->required()
      ->allow_extra_args(false);
  command->add_flag("--json", arguments->json, "The verdicts as JSON");
  command->add_option("--junit", arguments->junit, "Writes the verdicts as JUnit XML into this file");
  command->add_flag("--github", arguments->github, "Adds annotations for GitHub's workflows");
  add_force(*command, arguments->force);
  command->callback([arguments, &run] {
    set_pair(arguments->runs, true);
    run = {{{arguments->runs.before, arguments->runs.after}, {{"--junit", arguments->junit}}, arguments->force},
           [arguments] { return run_check(*arguments); }};
  });
}

}  // namespace mindtorch::mtprof

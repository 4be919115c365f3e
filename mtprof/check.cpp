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

struct Arguments {
  std::string run;
  std::uint64_t max_memory = 0;
  std::string baseline;
  std::vector<std::string> limits;
  std::string junit;
  bool json = false;
  bool github = false;
};

int run_check(const Arguments& arguments) {
  std::vector<analyze::Limit> limits;
  for (const std::string& text : arguments.limits) limits.push_back(analyze::parse_limit(text));
  const ProfiledRun baseline = load_profile({arguments.baseline, arguments.max_memory});
  const ProfiledRun run = load_profile({arguments.run, arguments.max_memory});
  const std::vector<analyze::Verdict> verdicts = analyze::check_limits(baseline.profile, run.profile, limits);
  fmt::print("{}", arguments.json ? verdicts_json(verdicts) : verdicts_text(verdicts));
  if (arguments.github) fmt::print("{}", verdicts_github(verdicts));
  if (!arguments.junit.empty()) {
    AtomicFile file(arguments.junit);
    file.write(verdicts_junit(verdicts));
    file.commit();
  }
  const bool is_exceeded = std::ranges::count(verdicts, analyze::Verdict::Outcome::kExceeded, &analyze::Verdict::outcome) > 0;
  return is_exceeded || baseline.is_damaged || run.is_damaged ? 1 : 0;
}

}  // namespace

void add_check(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("check", "Fails if a run exceeds its baseline by more than the limits");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("RUN", arguments->run, "A recording or a Chrome trace")->required();
  command->add_option("--baseline", arguments->baseline, "The run to compare with")->required();
  add_max_memory(*command, arguments->max_memory);
  command
      ->add_option("--max", arguments->limits,
                   "A limit: step_time=+3%, device_time=+3%, peak_memory=+5%, op:aten::mm=+10%, calls:aten::mm=0%")
      ->required()
      ->allow_extra_args(false);
  command->add_flag("--json", arguments->json, "The verdicts as JSON");
  command->add_option("--junit", arguments->junit, "Writes the verdicts as JUnit XML into this file");
  command->add_flag("--github", arguments->github, "Adds annotations for GitHub's workflows");
  command->callback([arguments, &run] { run = [arguments] { return run_check(*arguments); }; });
}

}  // namespace mindtorch::mtprof

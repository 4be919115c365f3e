// mtprof check: an exit status that tells whether a run exceeds its baseline.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/diff/limits.h"
#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "mtprof/check_output.h"
#include "mtprof/commands.h"
#include "mtprof/loading.h"
#include "mtprof/peaks.h"

namespace mindtorch::mtprof {
namespace {

constexpr int kUndecided = 3;  // the exit status if no limit is exceeded, but the steps are too few to tell for one of them

struct Arguments {
  RunPair runs;
  std::vector<std::string> limits;
  std::vector<std::string> least;
  PeakOptions peaks;
  std::string junit;
  bool json = false;
  bool github = false;
  bool force = false;
};

int run_check(const Arguments& arguments) {
  std::vector<analyze::Limit> limits, least;
  for (const std::string& text : arguments.limits) limits.push_back(analyze::parse_limit(text));
  for (const std::string& text : arguments.least) least.push_back(analyze::parse_least(text));
  const analyze::KnownPeaks peaks = known_peaks(arguments.peaks);
  std::vector<analyze::Verdict> verdicts;
  bool is_damaged = false;
  if (!limits.empty()) {
    const ProfiledRun baseline = load_profile({arguments.runs.before, arguments.runs.max_memory});
    const ProfiledRun run = load_profile({arguments.runs.after, arguments.runs.max_memory});
    verdicts = analyze::check_limits(baseline.profile, run.profile, limits);
    is_damaged = baseline.is_damaged || run.is_damaged;
  }
  if (!least.empty()) {
    const Loaded run = load({arguments.runs.after, arguments.runs.max_memory});
    if (limits.empty()) tell_damage(arguments.runs.after, run);
    const analyze::Analysis analysis(run.recording);
    for (analyze::Verdict& verdict : analyze::check_least(analyze::find_efficiency(analysis, peaks), least))
      verdicts.push_back(std::move(verdict));
    is_damaged = is_damaged || run.damage.has_value();
  }
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
  if (has(analyze::Verdict::Outcome::kExceeded) || is_damaged) return 1;
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
      ->allow_extra_args(false);
  command->add_option("--min", arguments->least, "A share that the run must reach: mfu=40%, hfu=45%; needs no baseline")
      ->allow_extra_args(false);
  add_peak_options(*command, arguments->peaks);
  command->add_flag("--json", arguments->json, "The verdicts as JSON");
  command->add_option("--junit", arguments->junit, "Writes the verdicts as JUnit XML into this file");
  command->add_flag("--github", arguments->github, "Adds annotations for GitHub's workflows");
  add_force(*command, arguments->force);
  command->callback([arguments, &run] {
    if (arguments->limits.empty() && arguments->least.empty()) throw CLI::RequiredError("--max or --min");
    set_pair(arguments->runs, !arguments->limits.empty());
    std::vector<std::string> inputs = arguments->peaks.files;
    for (const std::string& file : {arguments->runs.before, arguments->runs.after})
      if (!file.empty()) inputs.push_back(file);
    run = {{inputs, {{"--junit", arguments->junit}}, arguments->force}, [arguments] { return run_check(*arguments); }};
  });
}

}  // namespace mindtorch::mtprof

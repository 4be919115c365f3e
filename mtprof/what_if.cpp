// mtprof what-if: how long a step would take if something about it changed.
#include "mindtorch/analyze/replay/what_if.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/units.h"
#include "mtprof/commands.h"
#include "mtprof/loading.h"
#include "mtprof/what_if_output.h"

namespace mindtorch::mtprof {
namespace {

struct Arguments {
  Input input;
  std::vector<std::string> scale;
  analyze::WhatIf question;
  bool json = false;
};

std::string text_of(const analyze::WhatIfAnswer& answer) {
  const auto time = [](std::int64_t ns) { return analyze::format_time(static_cast<double>(ns) / 1000.0); };
  const double share =
      answer.replayed_ns == 0 ? 0 : static_cast<double>(answer.predicted_ns - answer.replayed_ns) / static_cast<double>(answer.replayed_ns);
  return fmt::format("step {} -> {} ({:+.1f} %)\nrecorded: {} per step, on average of {}; replayed without a change: {}\n",
                     time(answer.replayed_ns), time(answer.predicted_ns), 100 * share, time(answer.step_ns), answer.steps,
                     time(answer.replayed_ns));
}

// What is wrong with a selector or a factor is the user's to mend.
void as_usage(const std::function<void()>& ask) {
  try {
    ask();
  } catch (const InvalidArgument& error) {
    throw WrongUsage(error.what());
  }
}

int run_what_if(Arguments& arguments) {
  analyze::WhatIf& question = arguments.question;
  as_usage([&] {
    for (const std::string& text : arguments.scale) question.scale.push_back(analyze::parse_scale(text));
  });
  if (question.scale.empty() && question.remove.empty() && question.overlap.empty())
    throw WrongUsage("what-if: say what changes with --scale, --remove or --overlap");
  const Loaded loaded = load(arguments.input);
  as_usage([&] {
    const analyze::WhatIfAnswer answer = analyze::what_if(analyze::Analysis(loaded.recording), question);
    fmt::print("{}", arguments.json ? what_if_json(answer) + "\n" : text_of(answer));
  });
  tell_damage(arguments.input.file, loaded);
  return loaded.damage ? 1 : 0;
}

}  // namespace

std::string what_if_json(const analyze::WhatIfAnswer& answer) {
  return fmt::format(R"({{"step_ns":{},"replayed_ns":{},"predicted_ns":{},"steps":{}}})", answer.step_ns, answer.replayed_ns,
                     answer.predicted_ns, answer.steps);
}

void add_what_if(CLI::App& program, Run& run) {
  CLI::App* command = program.add_subcommand("what-if", "How long a step would take if something about it changed");
  const auto arguments = std::make_shared<Arguments>();
  add_input(*command, arguments->input);
  command->add_option("--scale", arguments->scale, "SELECTOR=FACTOR: this takes FACTOR times its time, such as 'op:aten::mm=0.5'")
      ->allow_extra_args(false);
  command
      ->add_option("--remove", arguments->question.remove,
                   "SELECTOR: this is gone: op:NAME, kernel:NAME, cause:NAME, python:FUNCTION, line:FILE:LINE, loading, copies, "
                   "collectives; names may have *")
      ->allow_extra_args(false);
  command->add_option("--overlap", arguments->question.overlap, "copies, collectives or loading: these pass beside the steps")
      ->allow_extra_args(false);
  command->add_flag("--json", arguments->json, "The answer as JSON");
  command->callback([arguments, &run] {
    run = {Files{.inputs = {arguments->input.file}}, [arguments] { return run_what_if(*arguments); }};
  });
}

}  // namespace mindtorch::mtprof

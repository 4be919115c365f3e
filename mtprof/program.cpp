// Parses the command line and runs the command.
#include "mtprof/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "mindtorch/base/error_text.h"
#include "mtprof/commands.h"
#include "mtprof/python_commands.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {
namespace {

constexpr int kFailure = 1, kUsage = 2;

int run_command(const Run& run) {
  if (!run) {
    fmt::print(stderr, "mtprof: this command is written in Python: run it through the program mtprof\n");
    return kUsage;
  }
  try {
    const int status = run();
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "cannot write the result");
    return status;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "mtprof: this machine has not enough memory for the answer\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "mtprof: {}\n", shown(text_for_users(error)));
  }
  return kFailure;
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  CLI::App program("Reads recordings (.mtrec) and Chrome traces of torch.profiler or of this library, plain or .gz.", "mtprof");
  program.require_subcommand(1);
  program.set_version_flag("--version", MINDTORCH_VERSION);
  program.footer("Exit status: 0 all well, 1 something was found or failed, 2 wrong usage.");
  Run run;
  add_python_commands(program);
  add_table(program, run);
  add_export(program, run);
  add_info(program, run);
  add_report(program, run);
  add_diff(program, run);
  add_check(program, run);
  add_ranks(program, run);
  add_validate(program, run);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : kUsage;
  }
  return run_command(run);
}

}  // namespace mindtorch::mtprof

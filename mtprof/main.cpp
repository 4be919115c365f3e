// mtprof: answers questions about recordings and traces on the command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

#include "mtprof/commands.h"
#include "mtprof/shown.h"

namespace {

constexpr int kFailure = 1, kUsage = 2;

}  // namespace

int main(int argc, char** argv) {
  using namespace mindtorch::mtprof;
  CLI::App program("Reads recordings (.mtrec) and Chrome traces of torch.profiler or of this library, plain or .gz.", "mtprof");
  program.require_subcommand(1);
  program.set_version_flag("--version", MINDTORCH_VERSION);
  program.footer("Exit status: 0 all well, 1 something was found or failed, 2 wrong usage.");
  Run run;
  add_table(program, run);
  add_export(program, run);
  add_info(program, run);
  add_diff(program, run);
  add_check(program, run);
  add_validate(program, run);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : kUsage;
  }
  try {
    const int status = run();
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "cannot write the result");
    return status;
  } catch (const std::exception& error) {
    fmt::print(stderr, "mtprof: {}\n", shown(error.what()));
    return kFailure;
  }
}

// Parses the command line and runs the command.
#include "mtprof/program.h"

#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <system_error>

#include "mindtorch/base/error_text.h"
#include "mtprof/commands.h"
#include "mtprof/python_commands.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {
namespace {

constexpr int kFailure = 1, kUsage = 2;

// Help, the version, or what is wrong with the arguments, which may hold anything.
int tell(const CLI::App& program, const CLI::ParseError& error) {
  std::ostringstream out, messages;
  const int status = program.exit(error, out, messages);
  fmt::print("{}", without_controls(out.str(), true));
  fmt::print(stderr, "{}", without_controls(messages.str(), true));
  return status == 0 ? 0 : kUsage;
}

// A message if the first argument should be a command and is none.
std::string unknown_command(const CLI::App& program, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  std::string commands;
  for (const CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == argv[1]) return "";
    commands += fmt::format("{}{}", commands.empty() ? "" : ", ", command->get_name());
  }
  return fmt::format("mtprof: there is no command '{}'; the commands are {} (mtprof --help)\n", shown(argv[1]), commands);
}

int run_command(const Run& run) {
  if (!run.start) {
    fmt::print(stderr, "mtprof: this command is written in Python: run it through the program mtprof\n");
    return kUsage;
  }
  try {
    check_files(run.files);
    const int status = run.start();
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "cannot write the result");
    return status;
  } catch (const WrongUsage& error) {
    fmt::print(stderr, "mtprof: {}\n", shown(text_for_users(error)));
    return kUsage;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "mtprof: this machine has not enough memory for the answer\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "mtprof: {}\n", shown(text_for_users(error)));
  }
  return kFailure;
}

}  // namespace

void keep_freed_memory() {
  constexpr int kMegabyte = 1 << 20;
  ::mallopt(M_MMAP_THRESHOLD, 32 * kMegabyte);
  ::mallopt(M_TRIM_THRESHOLD, 1024 * kMegabyte);
  ::mallopt(M_TOP_PAD, 16 * kMegabyte);
}

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
  add_what_if(program, run);
  add_check(program, run);
  add_ranks(program, run);
  add_validate(program, run);
  add_efficiency(program, run);
  add_peaks(program, run);
  if (const std::string unknown = unknown_command(program, argc, argv); !unknown.empty()) {
    fmt::print(stderr, "{}", unknown);
    return kUsage;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return tell(program, error);
  }
  return run_command(run);
}

}  // namespace mindtorch::mtprof

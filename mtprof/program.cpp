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
#include "mtprof/messages.h"
#include "mtprof/python_commands.h"
#include "mtprof/shown.h"

namespace mindtorch::mtprof {
namespace {

constexpr int kFailure = 1, kUsage = 2;

// What work() returns, or the status of a failure, which is told.
template <class Work>
int status_of(Work work) {
  try {
    const int status = work();
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "cannot write the result");
    return status;
  } catch (const WrongUsage& error) {
    print_message("mtprof: {}\n", shown(text_for_users(error)));
    return kUsage;
  } catch (const std::bad_alloc&) {
    print_message("mtprof: this machine has not enough memory for the answer\n");
  } catch (const std::exception& error) {
    print_message("mtprof: {}\n", shown(text_for_users(error)));
  }
  return kFailure;
}

// Help, the version, or what is wrong with the arguments, which may hold anything.
int tell(const CLI::App& program, const CLI::ParseError& error) {
  std::ostringstream out, messages;
  const int status = program.exit(error, out, messages);
  print_message("{}", without_controls(messages.str(), true));
  fmt::print("{}", without_controls(out.str(), true));
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
    print_message("mtprof: this command is written in Python: run it through the program mtprof\n");
    return kUsage;
  }
  return status_of([&] {
    check_files(run.files);
    return run.start();
  });
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
    print_message("{}", unknown);
    return kUsage;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return status_of([&] { return tell(program, error); });
  }
  return run_command(run);
}

}  // namespace mindtorch::mtprof

// mtprof run, attach, collect, query, doctor, trigger and live, exports to Parquet and the way of mtprof ranks to Dask: a program of C++
// hands them over to the Python package. The package itself runs all commands in one process and needs nothing of this file but the list
// for --help.
#include "mtprof/python_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mtprof/commands.h"
#include "mtprof/messages.h"

namespace mindtorch::mtprof {
namespace {

// Without the first statement, Python would look for modules in the current folder first, where anybody may have put some.
constexpr const char* kProgram = R"(
import sys
sys.path[:] = filter(None, sys.path)
try:
    from mindtorch_v2.cli.program import main
except ImportError as error:
    sys.exit(f"mtprof: {sys.executable} cannot import mindtorch_v2 ({error}). Install it there (pip install .), or activate the "
             "environment that has it.")
sys.exit(main(sys.argv[1:]))
)";

std::string python_path() {
  const char* const path = std::getenv("PYTHONPATH");
  return path != nullptr ? path : "";
}

// A build tree holds the package beside the programs.
void find_package_beside_this_program() {
  std::error_code code;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", code);
  const std::filesystem::path folder = program.parent_path().parent_path() / "python";
  if (!std::filesystem::exists(folder / "mindtorch_v2")) return;
  const std::string before = python_path();
  setenv("PYTHONPATH", before.empty() ? folder.c_str() : fmt::format("{}:{}", folder.string(), before).c_str(), 1);
}

// An empty entry is the current folder: one that an empty variable left, as in "$PYTHONPATH:/opt/tools", would make Python run what lies
// there.
void drop_empty_entries() {
  std::string kept;
  for (const std::string& entry : CLI::detail::split(python_path(), ':')) {
    if (!entry.empty()) kept += (kept.empty() ? "" : ":") + entry;
  }
  kept.empty() ? unsetenv("PYTHONPATH") : setenv("PYTHONPATH", kept.c_str(), 1);
}

struct PythonCommand {
  std::string_view name;
  std::string_view description;
};
constexpr auto kCommands = std::to_array<PythonCommand>({
    {"run", "Profiles a Python program without any change of its code: mtprof run train.py; mtprof run --help"},
    {"attach", "Records a Python process that runs already: mtprof attach PID"},
    {"collect", "Writes recordings that `mtprof run` could not collect: it was killed, or a process ran longer"},
    {"doctor", "Says what can be recorded on this machine and tries it: one text for a bug report"},
    {"query", "Asks a recording or a trace in SQL, with DuckDB: mtprof query FILE \"select ...\""},
    {"trigger", "Asks the monitor of a running process to write what just happened: mtprof trigger PID"},
    {"live", "Shows what a process with a monitor does: mtprof live PID"},
});

// The interpreter that the command of `mtprof run -- COMMAND` names by its path; null if it names none.
const char* interpreter_of(int argc, const char* const* argv) {
  const auto end = argv + argc, separator = std::find(argv, end, std::string_view("--"));
  if (end - separator < 2) return nullptr;
  const std::string_view command = separator[1];
  const std::size_t slash = command.rfind('/');
  return slash != command.npos && command.substr(slash + 1).starts_with("python") ? separator[1] : nullptr;
}

}  // namespace

int hand_over_to_python(int argc, const char* const* argv) {
  const bool runs_a_program = argc > 1 && std::string_view(argv[1]) == "run";
  if (!runs_a_program) drop_empty_entries();  // a program finds its modules as it would alone
  find_package_beside_this_program();
  std::vector<char*> arguments = {const_cast<char*>("python3"), const_cast<char*>("-c"), const_cast<char*>(kProgram)};
  for (int i = 1; i < argc; ++i) arguments.push_back(const_cast<char*>(argv[i]));
  arguments.push_back(nullptr);
  execvp("python3", arguments.data());
  const int problem = errno;
  // Where PATH leads to no Python, the program may still name its own.
  if (const char* const own = runs_a_program ? interpreter_of(argc, argv) : nullptr; own != nullptr) execv(own, arguments.data());
  print_message("mtprof: python3 cannot be started ({}); this command is written in Python\n", std::strerror(problem));
  return 1;
}

bool is_written_in_python(int argc, const char* const* argv) {
  const std::vector<std::string_view> arguments(argv + std::min(argc, 1), argv + argc);
  const std::string_view command = arguments.empty() ? "" : arguments.front();
  if (std::ranges::find(kCommands, command, &PythonCommand::name) != kCommands.end()) return true;
  const auto has = [&](auto is_wanted) { return std::ranges::any_of(arguments, is_wanted); };
  if (command == "export") return has([](std::string_view text) { return text.ends_with(".parquet"); });
  return command == "ranks" && has([](std::string_view text) { return text.starts_with("--scheduler"); });
}

void add_python_commands(CLI::App& program) {
  // main() has handed them over to Python before the program parses anything, so these only describe them.
  for (const PythonCommand& command : kCommands) program.add_subcommand(std::string(command.name), std::string(command.description));
}

}  // namespace mindtorch::mtprof

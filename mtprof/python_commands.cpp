// mtprof run, query, doctor, trigger and live: hand over to Python, where they are written (python/mindtorch_v2/profiler/_run.py, ...).
// So do the exports to Parquet, which pyarrow writes, and the way of mtprof ranks to Dask.
#include "mtprof/python_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "mtprof/commands.h"

namespace mindtorch::mtprof {
namespace {

constexpr const char* kProgram = R"(
import sys
try:
    from mindtorch_v2._mtprof import main
except ImportError as error:
    sys.exit(f"mtprof: {sys.executable} cannot import mindtorch_v2 ({error}). Install it there (pip install .), or name another "
             "interpreter with MINDTORCH_PYTHON.")
sys.exit(main(sys.argv[1:]))
)";

std::filesystem::path own_path() {
  std::error_code code;
  return std::filesystem::read_symlink("/proc/self/exe", code);
}

// A build tree holds the package beside the programs.
void find_package_beside(const std::filesystem::path& program) {
  const std::filesystem::path folder = program.parent_path().parent_path() / "python";
  if (!std::filesystem::exists(folder / "mindtorch_v2")) return;
  const char* before = std::getenv("PYTHONPATH");
  const std::string joined = before == nullptr ? folder.string() : fmt::format("{}:{}", folder.string(), before);
  setenv("PYTHONPATH", joined.c_str(), 1);
}

}  // namespace

int hand_over_to_python(int argc, const char* const* argv) {
  const std::filesystem::path program = own_path();
  find_package_beside(program);
  setenv("MINDTORCH_MTPROF", program.c_str(), 1);
  const char* chosen = std::getenv("MINDTORCH_PYTHON");
  const std::string python = chosen != nullptr ? chosen : "python3";
  std::vector<char*> arguments = {const_cast<char*>(python.c_str()), const_cast<char*>("-c"), const_cast<char*>(kProgram)};
  for (int i = 1; i < argc; ++i) arguments.push_back(const_cast<char*>(argv[i]));
  arguments.push_back(nullptr);
  execvp(python.c_str(), arguments.data());
  fmt::print(stderr, "mtprof: {} cannot be started ({}); name a Python interpreter with MINDTORCH_PYTHON\n", python, std::strerror(errno));
  return 1;
}

bool is_written_in_python(int argc, const char* const* argv) {
  const std::vector<std::string_view> arguments(argv + std::min(argc, 1), argv + argc);
  const std::string_view command = arguments.empty() ? "" : arguments.front();
  if (command == "run" || command == "query" || command == "doctor" || command == "trigger" || command == "live") return true;
  // Only the way to Parquet is, and the way to Dask.
  if (command == "export") return std::ranges::any_of(arguments, [](std::string_view text) { return text.ends_with(".parquet"); });
  return command == "ranks" && std::ranges::any_of(arguments, [](std::string_view text) { return text.starts_with("--scheduler"); });
}

void add_python_commands(CLI::App& program) {
  // main() has handed them over to Python before the program parses anything, so these only describe them.
  program.add_subcommand("run", "Profiles a Python program without any change of its code: mtprof run train.py; mtprof run --help");
  program.add_subcommand("doctor", "Says what can be recorded on this machine and tries it: one text for a bug report");
  program.add_subcommand("query", "Asks a recording or a trace in SQL, with DuckDB: mtprof query FILE \"select ...\"");
  program.add_subcommand("trigger", "Asks the monitor of a running process to write what just happened: mtprof trigger PID");
  program.add_subcommand("live", "Shows what a process with a monitor does: mtprof live PID");
}

}  // namespace mindtorch::mtprof

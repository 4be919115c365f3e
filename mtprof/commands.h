// The commands of mtprof. Each function adds a command with its options to the program, and sets the function that runs it.
#pragma once

#include <functional>

#include "mtprof/files.h"

namespace CLI {
class App;
}

namespace mindtorch::mtprof {

// A command with its arguments. Its files are checked, then it is started.
struct Run {
  Files files;
  std::function<int()> start;  // returns the exit status: 0 if all is well, 1 if something was found or failed
};

void add_table(CLI::App& program, Run& run);
void add_export(CLI::App& program, Run& run);
void add_efficiency(CLI::App& program, Run& run);
void add_peaks(CLI::App& program, Run& run);
void add_info(CLI::App& program, Run& run);
void add_report(CLI::App& program, Run& run);
void add_diff(CLI::App& program, Run& run);
void add_check(CLI::App& program, Run& run);
void add_ranks(CLI::App& program, Run& run);
void add_validate(CLI::App& program, Run& run);
void add_what_if(CLI::App& program, Run& run);

}  // namespace mindtorch::mtprof

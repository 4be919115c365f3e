// The commands of mtprof. Each adds its options to the program and sets what is to be done when it was chosen.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace mindtorch::mtprof {

// What a command returns: 0 all well, 1 something was found or failed.
using Run = std::function<int()>;

void add_table(CLI::App& program, Run& run);
void add_export(CLI::App& program, Run& run);
void add_info(CLI::App& program, Run& run);
void add_diff(CLI::App& program, Run& run);
void add_check(CLI::App& program, Run& run);
void add_validate(CLI::App& program, Run& run);

}  // namespace mindtorch::mtprof

// The commands of mtprof that are written in Python.
#pragma once

namespace CLI {
class App;
}

namespace mindtorch::mtprof {

// Replaces this process by Python, which runs the command. Returns only if Python cannot be started, with the exit status.
int hand_over_to_python(int argc, const char* const* argv);

// Lists the command in the help of the program.
void add_run(CLI::App& program);

}  // namespace mindtorch::mtprof

// The commands of mtprof that are written in Python.
#pragma once

namespace CLI {
class App;
}

namespace mindtorch::mtprof {

// Whether the command that the arguments of main() ask for is one of them.
bool is_written_in_python(int argc, const char* const* argv);

// Replaces this process by Python, which runs the command. Returns only if Python cannot be started, with the exit status.
int hand_over_to_python(int argc, const char* const* argv);

// Lists the commands in the help of the program.
void add_python_commands(CLI::App& program);

}  // namespace mindtorch::mtprof

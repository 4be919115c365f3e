// The whole of mtprof but main(), so that tests and the Python package can call it.
#pragma once

namespace mindtorch::mtprof {

// Runs the command that the arguments ask for. Never throws. Returns the exit status: 0 all well, 1 something was found or failed, 2 wrong
// usage.
int run_program(int argc, const char* const* argv);

// Lets this process keep memory that it frees, because files are read into large arrays one after another: to get memory from the system
// again, which clears it, takes a fifth of the time of `mtprof ranks`. For a process that does nothing but run a command.
void keep_freed_memory();

}  // namespace mindtorch::mtprof

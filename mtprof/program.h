// The whole of mtprof but main(), so that tests can call it.
#pragma once

namespace mindtorch::mtprof {

// Runs the command that the arguments ask for. Never throws. Returns the exit status: 0 all well, 1 something was found or failed, 2 wrong
// usage.
int run_program(int argc, const char* const* argv);

}  // namespace mindtorch::mtprof

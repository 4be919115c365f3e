// mtprof, the command line.
#include "mtprof/program.h"
#include "mtprof/python_commands.h"

// Only a program is replaced by Python: run_program(), which tests and the Python package call, never starts another program.
int main(int argc, char** argv) {
  using namespace mindtorch::mtprof;
  if (is_written_in_python(argc, argv)) return hand_over_to_python(argc, argv);
  keep_freed_memory();
  return run_program(argc, argv);
}

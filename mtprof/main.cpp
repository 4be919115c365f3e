// mtprof, the command line.
#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

#include "mtprof/program.h"
#include "mtprof/python_commands.h"

namespace {

// Files that the command opens must not get the numbers of standard streams that are closed, or messages would be written into them.
// Writing still fails, as it does to a closed stream.
void take_numbers_of_closed_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) < 0) static_cast<void>(::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

}  // namespace

// Only a program is replaced by Python: run_program(), which tests and the Python package call, never starts another program.
int main(int argc, char** argv) {
  using namespace mindtorch::mtprof;
  if (is_written_in_python(argc, argv)) return hand_over_to_python(argc, argv);
  take_numbers_of_closed_streams();
  keep_freed_memory();
  return run_program(argc, argv);
}

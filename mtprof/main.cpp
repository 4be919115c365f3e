// mtprof, the command line.
#include <malloc.h>

#include "mtprof/program.h"
#include "mtprof/python_commands.h"

namespace {

// Files are read into large arrays, one file after another. Memory that was freed is kept for the next array: to get it from the system
// again, which clears it, takes a fifth of the time of `mtprof ranks`.
void keep_freed_memory() {
  constexpr int kMegabyte = 1 << 20;
  ::mallopt(M_MMAP_THRESHOLD, 32 * kMegabyte);
  ::mallopt(M_TRIM_THRESHOLD, 1024 * kMegabyte);
  ::mallopt(M_TOP_PAD, 16 * kMegabyte);
}

}  // namespace

// Only a program is replaced by Python: run_program(), which tests call, never starts another program.
int main(int argc, char** argv) {
  using namespace mindtorch::mtprof;
  if (is_written_in_python(argc, argv)) return hand_over_to_python(argc, argv);
  keep_freed_memory();
  return run_program(argc, argv);
}

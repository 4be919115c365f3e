// mtprof, the command line.
#include <malloc.h>

#include <cstdlib>

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

// The library's BLAS starts a thread for each further processor when it is loaded, and these spin for 30 ms before they sleep. No command
// computes products, so there is one thread only; the variable is gone before main() does anything.
constexpr const char* kBlasThreads = "OPENBLAS_NUM_THREADS";
bool is_set_by_us = false;

void use_one_blas_thread(int, char**, char**) { is_set_by_us = ::getenv(kBlasThreads) == nullptr && ::setenv(kBlasThreads, "1", 0) == 0; }
// A function of this section runs before the constructors of libraries.
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)(int, char**, char**) = use_one_blas_thread;

}  // namespace

// Only a program is replaced by Python: run_program(), which tests call, never starts another program.
int main(int argc, char** argv) {
  using namespace mindtorch::mtprof;
  if (is_set_by_us) ::unsetenv(kBlasThreads);  // a program that is started from here may compute products
  if (is_written_in_python(argc, argv)) return hand_over_to_python(argc, argv);
  keep_freed_memory();
  return run_program(argc, argv);
}

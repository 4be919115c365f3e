// mtprof, the command line.
#include <malloc.h>
#include <sched.h>

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

// The library's BLAS starts a thread for each further processor when it is loaded, and these spin for 30 ms before they sleep, on
// processors that read files meanwhile. No command computes products. So there is one processor only until main() begins. Setting
// OPENBLAS_NUM_THREADS would not help: libc forgets it when it is initialised, which is later.
class OneProcessor {
 public:
  void begin() {
    cpu_set_t one;
    CPU_ZERO(&one);
    const int here = ::sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof all_, &all_) != 0) return;
    CPU_SET(static_cast<unsigned>(here), &one);
    is_on_ = ::sched_setaffinity(0, sizeof one, &one) == 0;
  }
  void end() const {
    if (is_on_) ::sched_setaffinity(0, sizeof all_, &all_);
  }

 private:
  cpu_set_t all_;
  bool is_on_;
};
constinit OneProcessor while_loading{};

void begin_loading(int, char**, char**) { while_loading.begin(); }
// A function of this section runs before the constructors of libraries.
[[gnu::section(".preinit_array"), gnu::used]] void (*const kBeforeLibraries)(int, char**, char**) = begin_loading;

}  // namespace

// Only a program is replaced by Python: run_program(), which tests call, never starts another program.
int main(int argc, char** argv) {
  using namespace mindtorch::mtprof;
  while_loading.end();
  if (is_written_in_python(argc, argv)) return hand_over_to_python(argc, argv);
  keep_freed_memory();
  return run_program(argc, argv);
}

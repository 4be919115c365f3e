// Threads for kernels on the CPU.
#pragma once

#include <cstdint>
#include <functional>

#include "mindtorch/base/export.h"

namespace mindtorch {

// The number of threads that a kernel or BLAS may use, including the calling thread. The default is the number of cores.
MINDTORCH_EXPORT int get_num_threads();
MINDTORCH_EXPORT void set_num_threads(int count);

// The smallest number of elements that is worth a thread.
inline constexpr std::int64_t kParallelGrain = 32768;

// Splits [begin, end) over the threads if it has more than `grain` elements, calls body(from, to) for disjoint parts and waits for them.
// Inside of a body, and while another thread uses the pool, it makes one plain call. Rethrows the first exception of a part.
MINDTORCH_EXPORT void parallel_for_slow(std::int64_t begin, std::int64_t end, std::int64_t grain,
                                        const std::function<void(std::int64_t, std::int64_t)>& body);

template <class Body>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, const Body& body) {
  if (end - begin <= grain) {
    if (begin < end) body(begin, end);
    return;
  }
  parallel_for_slow(begin, end, grain, std::cref(body));
}

}  // namespace mindtorch

// Threads for kernels on the CPU.
#pragma once

#include <cstdint>
#include <functional>

namespace mindtorch {

// Number of threads a kernel may use, the calling one included; also BLAS's. Starts as the number of cores.
int get_num_threads();
void set_num_threads(int count);

// Elements a thread should get at least.
inline constexpr std::int64_t kParallelGrain = 32768;

// Splits [begin, end) over the threads if it holds more than `grain` elements; calls body(from, to) for disjoint parts and waits. Inside a
// body, and while another thread has the pool, it is one plain call. The first exception of a part is thrown.
void parallel_for_slow(std::int64_t begin, std::int64_t end, std::int64_t grain,
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

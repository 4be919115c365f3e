// Compiles a loop twice: for the machine the library is built for, and with AVX2 where the processor has it.
#pragma once

// Before a loop: no iteration reads what another one writes, so that the compiler may run several at once. clang finds that out at run
// time; told so, it would warn of every loop that it cannot vectorise.
#if defined(__clang__)
#define MINDTORCH_INDEPENDENT_ITERATIONS
#else
#define MINDTORCH_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

namespace mindtorch::cpu {

#if defined(__x86_64__) && !defined(__AVX2__)

// Everything the lambda calls is inlined here (flatten) and so compiled for this target.
template <class Loop>
[[gnu::target("avx2,fma,bmi2"), gnu::flatten, gnu::noinline]] void with_avx2(const Loop& loop) {
  loop();
}

template <class Loop>
inline void vectorized(const Loop& loop) {
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    with_avx2(loop);
  else
    loop();
}

#else

template <class Loop>
inline void vectorized(const Loop& loop) {
  loop();
}

#endif

}  // namespace mindtorch::cpu

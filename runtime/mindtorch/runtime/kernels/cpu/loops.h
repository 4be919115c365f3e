// Innermost loops of pointwise kernels: contiguous operands and numbers get loops the compiler vectorises, anything else a strided one.
#pragma once

#include "mindtorch/runtime/kernels/cpu/vectorize.h"
#include "mindtorch/runtime/loop_plan.h"

namespace mindtorch::cpu {

// out[i] = f()
template <class Out, class F>
void generate(const LoopPlan<1>& plan, const F& f) {
  run_loop(plan, [&](const std::array<char*, 1>& at, const std::array<std::int64_t, 1>& stride, std::int64_t n) {
    if (stride[0] == sizeof(Out)) {
      auto* out = reinterpret_cast<Out*>(at[0]);
      for (std::int64_t i = 0; i < n; ++i) out[i] = f();
    } else {
      for (std::int64_t i = 0; i < n; ++i) *reinterpret_cast<Out*>(at[0] + i * stride[0]) = f();
    }
  });
}

// out[i] = f(a[i])
template <class Out, class A, class F>
void map_unary(const LoopPlan<2>& plan, const F& f) {
  run_loop(plan, [&](const std::array<char*, 2>& at, const std::array<std::int64_t, 2>& stride, std::int64_t n) {
    if (stride[0] == sizeof(Out) && stride[1] == sizeof(A)) {
      vectorized([&] {
        auto* out = reinterpret_cast<Out*>(at[0]);
        const auto* a = reinterpret_cast<const A*>(at[1]);
        MINDTORCH_INDEPENDENT_ITERATIONS
        for (std::int64_t i = 0; i < n; ++i) out[i] = f(a[i]);
      });
    } else {
      for (std::int64_t i = 0; i < n; ++i)
        *reinterpret_cast<Out*>(at[0] + i * stride[0]) = f(*reinterpret_cast<const A*>(at[1] + i * stride[1]));
    }
  });
}

// out[i] = f(a[i], b[i]); either input may be one number.
template <class Out, class T, class F>
void map_binary(const LoopPlan<3>& plan, const F& f) {
  run_loop(plan, [&](const std::array<char*, 3>& at, const std::array<std::int64_t, 3>& stride, std::int64_t n) {
    auto* out = reinterpret_cast<Out*>(at[0]);
    const auto* a = reinterpret_cast<const T*>(at[1]);
    const auto* b = reinterpret_cast<const T*>(at[2]);
    constexpr std::int64_t kStep = sizeof(T);
    if (stride[0] == sizeof(Out) && stride[1] == kStep && stride[2] == kStep) {
      vectorized([&] {
        MINDTORCH_INDEPENDENT_ITERATIONS
        for (std::int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
      });
    } else if (stride[0] == sizeof(Out) && stride[1] == kStep && stride[2] == 0) {
      vectorized([&, number = *b] {
        MINDTORCH_INDEPENDENT_ITERATIONS
        for (std::int64_t i = 0; i < n; ++i) out[i] = f(a[i], number);
      });
    } else if (stride[0] == sizeof(Out) && stride[1] == 0 && stride[2] == kStep) {
      vectorized([&, number = *a] {
        MINDTORCH_INDEPENDENT_ITERATIONS
        for (std::int64_t i = 0; i < n; ++i) out[i] = f(number, b[i]);
      });
    } else {
      for (std::int64_t i = 0; i < n; ++i)
        *reinterpret_cast<Out*>(at[0] + i * stride[0]) =
            f(*reinterpret_cast<const T*>(at[1] + i * stride[1]), *reinterpret_cast<const T*>(at[2] + i * stride[2]));
    }
  });
}

// out[i] = f(a[i], b[i], c[i])
template <class Out, class A, class B, class C, class F>
void map_ternary(const LoopPlan<4>& plan, const F& f) {
  run_loop(plan, [&](const std::array<char*, 4>& at, const std::array<std::int64_t, 4>& stride, std::int64_t n) {
    if (stride == std::array<std::int64_t, 4>{sizeof(Out), sizeof(A), sizeof(B), sizeof(C)}) {
      vectorized([&] {
        auto* out = reinterpret_cast<Out*>(at[0]);
        const auto* a = reinterpret_cast<const A*>(at[1]);
        const auto* b = reinterpret_cast<const B*>(at[2]);
        const auto* c = reinterpret_cast<const C*>(at[3]);
        MINDTORCH_INDEPENDENT_ITERATIONS
        for (std::int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i], c[i]);
      });
    } else {
      for (std::int64_t i = 0; i < n; ++i)
        *reinterpret_cast<Out*>(at[0] + i * stride[0]) =
            f(*reinterpret_cast<const A*>(at[1] + i * stride[1]), *reinterpret_cast<const B*>(at[2] + i * stride[2]),
              *reinterpret_cast<const C*>(at[3] + i * stride[3]));
    }
  });
}

}  // namespace mindtorch::cpu

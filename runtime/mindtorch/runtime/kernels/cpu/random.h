// Kernels that fill contiguous memory with random numbers. Each takes philox_blocks(type, n) blocks.
#pragma once

#include "mindtorch/runtime/generator.h"
#include "mindtorch/runtime/scalar.h"

namespace mindtorch::cpu {

// Blocks needed for n numbers: two 32-bit numbers for each element, whatever its type.
constexpr std::uint64_t philox_blocks(std::int64_t n) { return static_cast<std::uint64_t>(n + 1) / 2; }

void uniform(ScalarType type, void* out, std::int64_t n, const PhiloxState& state, double from, double to);  // [from, to)
void normal(ScalarType type, void* out, std::int64_t n, const PhiloxState& state, double mean, double deviation);
void random_integers(ScalarType type, void* out, std::int64_t n, const PhiloxState& state, std::int64_t from,
                     std::int64_t to);                                                           // [from, to)
void bernoulli(ScalarType type, void* out, std::int64_t n, const PhiloxState& state, double p);  // 1 with probability p, else 0
void permutation(std::int64_t* out, std::int64_t n, const PhiloxState& state);

}  // namespace mindtorch::cpu

// Kernels of dropout, on contiguous memory.
#pragma once

#include <cstdint>

#include "mindtorch/runtime/generator.h"
#include "mindtorch/runtime/scalar_type.h"

namespace mindtorch::cpu {

// Blocks of random numbers that n elements take.
constexpr std::uint64_t dropout_blocks(std::int64_t n) { return (static_cast<std::uint64_t>(n) + 3) / 4; }

// mask[i] is true with probability 1 - p; out[i] is in[i] * scale where it is true, else in[i] * 0.
void dropout(ScalarType type, std::int64_t n, void* out, bool* mask, const void* in, double p, double scale, const PhiloxState& state);
// The same with a given mask: also the gradient.
void masked_scale(ScalarType type, std::int64_t n, void* out, const bool* mask, const void* in, double scale);

}  // namespace mindtorch::cpu

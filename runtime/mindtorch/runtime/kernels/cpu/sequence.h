// Kernels that fill contiguous memory with sequences.
#pragma once

#include "mindtorch/runtime/scalar.h"

namespace mindtorch::cpu {

void arange(ScalarType type, void* out, std::int64_t n, const Scalar& start, const Scalar& step);
// From `start` to `end`, both exact.
void linspace(ScalarType type, void* out, std::int64_t n, double start, double end);
void eye(ScalarType type, void* out, std::int64_t rows, std::int64_t columns);

}  // namespace mindtorch::cpu

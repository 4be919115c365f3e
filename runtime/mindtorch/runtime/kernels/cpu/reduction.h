// Kernels of reductions.
#pragma once

#include "mindtorch/runtime/reduce_plan.h"
#include "mindtorch/runtime/scalar.h"

namespace mindtorch::cpu {

// Input and output of type `type`.
void sum(ScalarType type, const ReducePlan& plan, double scale);  // the sum times `scale`; 1/n gives the mean
void prod(ScalarType type, const ReducePlan& plan);
void amax(ScalarType type, const ReducePlan& plan);  // NaN if there is one
void amin(ScalarType type, const ReducePlan& plan);

// Input of type `type`, output bool.
void any(ScalarType type, const ReducePlan& plan);
void all(ScalarType type, const ReducePlan& plan);

// Floating point.
void norm(ScalarType type, const ReducePlan& plan, double p);  // (sum |x|^p)^(1/p); p may be 0 or infinite
void variance(ScalarType type, const ReducePlan& plan, double correction, bool square_root);

// Along one dimension: `outer` rows of `n` elements, `stride` apart; row r starts at element (r / inner) * n * inner + r % inner.
struct Rows {
  std::int64_t count, n, inner;
  void map_addresses(const AddressMap&) {}
};
// The largest (smallest) element of each row and its first position; NaN counts as the largest (smallest).
void extremum(ScalarType type, const void* in, void* values, std::int64_t* indices, const Rows& rows, bool largest);
// Only the position.
void arg_extremum(ScalarType type, const void* in, std::int64_t* indices, const Rows& rows, bool largest);
void cumsum(ScalarType type, const void* in, void* out, const Rows& rows);
// The k largest (smallest) of each row, in order; `out` rows have k elements.
void topk(ScalarType type, const void* in, void* values, std::int64_t* indices, const Rows& rows, std::int64_t k, bool largest);

}  // namespace mindtorch::cpu

// The reduction argument of loss ops.
#pragma once

#include "mindtorch/runtime/functions.h"

namespace mindtorch {

inline constexpr std::int64_t kReductionNone = 0, kReductionMean = 1, kReductionSum = 2;

inline void check_reduction(std::int64_t reduction, const char* op) {
  if (reduction < kReductionNone || reduction > kReductionSum)
    throw_error<InvalidArgument>(op, "reduction must be 0 (none), 1 (mean) or 2 (sum), got {}", reduction);
}

inline Tensor reduced(const Tensor& losses, std::int64_t reduction, const char* op) {
  check_reduction(reduction, op);
  return reduction == kReductionMean ? losses.mean() : reduction == kReductionSum ? losses.sum() : losses;
}

}  // namespace mindtorch

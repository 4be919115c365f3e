// Kernels of losses.
#pragma once

#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/loop_plan.h"

namespace mindtorch::cpu {

// ---- elements of two tensors ----

// (x - y)^2; or, for smooth_l1, (x - y)^2 / 2 beta up to a distance of beta and |x - y| - beta / 2 beyond.
struct DistanceLoss {
  bool smooth_l1;
  double beta;
  void map_addresses(const AddressMap&) {}
};
void distance_loss(ScalarType type, const LoopPlan<3>& plan, const DistanceLoss& loss);
// The slope in x times `factor` times the one number at `grad`.
void distance_loss_backward(ScalarType type, const LoopPlan<3>& plan, const DistanceLoss& loss, double factor, const void* grad);
// The same with a gradient for each element, the first input.
void distance_loss_backward_each(ScalarType type, const LoopPlan<4>& plan, const DistanceLoss& loss, double factor);

// ---- negative log likelihood ----

// Scores are a contiguous [batch, classes, inner], targets int64 [batch, inner]. Those equal to ignore_index do not count.
struct NllShape {
  ScalarType type;
  std::int64_t batch, classes, inner, ignore_index;
  enum class Reduction : std::uint8_t { kNone = 0, kMean = 1, kSum = 2 } reduction;
  void map_addresses(const AddressMap&) {}
};
// `out` is one number, or [batch, inner] without reduction; `total_weight` one number. `weight`, one number per class, may be null. Throws
// OutOfRange for a target that is not a class.
void nll_loss(const NllShape& shape, void* out, void* total_weight, const void* in, const std::int64_t* target, const void* weight);
// Into grad_in, which holds zeros.
void nll_loss_backward(const NllShape& shape, void* grad_in, const void* grad, const std::int64_t* target, const void* weight,
                       const void* total_weight);

}  // namespace mindtorch::cpu

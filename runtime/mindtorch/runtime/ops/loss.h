// Losses.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// What happens to the losses of the elements. torch's numbers.
enum class Reduction : std::int64_t { kNone = 0, kMean = 1, kSum = 2 };

MINDTORCH_EXPORT Tensor mse_loss(const Tensor& self, const Tensor& target, Reduction reduction = Reduction::kMean);
MINDTORCH_EXPORT Tensor l1_loss(const Tensor& self, const Tensor& target, Reduction reduction = Reduction::kMean);
MINDTORCH_EXPORT Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, Reduction reduction = Reduction::kMean, double beta = 1);
// Undefined: no weight, no pos_weight.
MINDTORCH_EXPORT Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                                                         const Tensor& pos_weight = {}, Reduction reduction = Reduction::kMean);

// `self`: log probabilities [batch, classes, ...] or [classes]; `target`: int64 class numbers without the dimension of classes. `weight`:
// one number per class, or undefined. Targets equal to ignore_index do not count.
MINDTORCH_EXPORT Tensor nll_loss(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                                 Reduction reduction = Reduction::kMean, std::int64_t ignore_index = -100);
// The same for scores that are not normalised. Targets of the shape of `self` are probabilities instead of class numbers.
MINDTORCH_EXPORT Tensor cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                                      Reduction reduction = Reduction::kMean, std::int64_t ignore_index = -100, double label_smoothing = 0);

}  // namespace mindtorch

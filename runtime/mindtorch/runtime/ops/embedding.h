// Table look-up.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// Rows of `weight` (two dimensions), chosen by integers. The row `padding_idx` gets no gradient; -1 stands for no such row.
MINDTORCH_EXPORT Tensor embedding(const Tensor& weight, const Tensor& indices, std::int64_t padding_idx = -1,
                                  bool scale_grad_by_freq = false);

}  // namespace mindtorch

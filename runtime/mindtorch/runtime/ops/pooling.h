// Pooling over the last two dimensions.
#pragma once

#include <tuple>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// Inputs are [batch, channels, height, width] or [channels, height, width]. An empty stride is the size of the window; one number stands
// for one in each dimension.
MINDTORCH_EXPORT Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
                                   IntArrayRef dilation = 1, bool ceil_mode = false);
// With the position of each maximum in its plane.
MINDTORCH_EXPORT std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                                                                    IntArrayRef padding = 0, IntArrayRef dilation = 1,
                                                                    bool ceil_mode = false);
MINDTORCH_EXPORT Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0,
                                   bool ceil_mode = false, bool count_include_pad = true,
                                   std::optional<std::int64_t> divisor_override = std::nullopt);
// As many windows as output_size says, of nearly the same size.
MINDTORCH_EXPORT Tensor adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size);

}  // namespace mindtorch

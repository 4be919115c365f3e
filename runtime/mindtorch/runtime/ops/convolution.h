// Convolutions, and the unfolding of images that they are made of.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// `input` is [batch, channels, length] (conv1d) or [batch, channels, height, width] (conv2d), the batch may be missing; `weight` is
// [out_channels, channels / groups, kernel...]. An undefined bias means no bias. One number stands for one in each dimension.
MINDTORCH_EXPORT Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, IntArrayRef stride = 1,
                               IntArrayRef padding = 0, IntArrayRef dilation = 1, std::int64_t groups = 1);
MINDTORCH_EXPORT Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, IntArrayRef stride = 1,
                               IntArrayRef padding = 0, IntArrayRef dilation = 1, std::int64_t groups = 1);

// Patches as columns: [batch, channels * taps, positions]; and the adjoint, which adds up overlapping patches.
MINDTORCH_EXPORT Tensor im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation = 1, IntArrayRef padding = 0,
                               IntArrayRef stride = 1);
MINDTORCH_EXPORT Tensor col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation = 1,
                               IntArrayRef padding = 0, IntArrayRef stride = 1);

}  // namespace mindtorch

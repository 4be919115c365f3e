// Kernels of two-dimensional convolution: patches are unfolded to the columns of a matrix, and a matrix product does the rest.
#pragma once

#include <cstdint>

#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/kernels/cpu/window.h"
#include "mindtorch/runtime/scalar_type.h"

namespace mindtorch::cpu {

// columns[batch][channel * taps][positions] from in[batch][channel][pixels]; what lies outside of the image is 0.
void im2col(ScalarType type, const Window& window, std::int64_t batch, std::int64_t channels, void* columns, const void* in);
// The adjoint: each pixel becomes the sum of its copies.
void col2im(ScalarType type, const Window& window, std::int64_t batch, std::int64_t channels, void* out, const void* columns);

struct ConvolutionShape {
  ScalarType type;
  std::int64_t batch, groups, in_channels, out_channels;
  Window window;

  std::int64_t group_inputs() const { return in_channels / groups; }
  std::int64_t group_outputs() const { return out_channels / groups; }
  std::int64_t group_rows() const { return group_inputs() * window.taps(); }
  // Elements of the buffer `columns` below: the columns of one image. 0 if it is not used.
  std::int64_t column_elements() const { return window.is_identity() ? 0 : in_channels * window.taps() * window.positions(); }
  void map_addresses(const AddressMap&) {}
};

// All tensors are contiguous; `bias` may be null. The gradient functions write all of their result.
void convolution(const ConvolutionShape& shape, void* out, const void* in, const void* weight, const void* bias, void* columns);
void convolution_grad_input(const ConvolutionShape& shape, void* grad_in, const void* grad, const void* weight, void* columns);
void convolution_grad_weight(const ConvolutionShape& shape, void* grad_weight, const void* grad, const void* in, void* columns);

}  // namespace mindtorch::cpu

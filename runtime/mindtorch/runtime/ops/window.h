// Windows over images: the arguments that convolution and pooling have in common.
#pragma once

#include "mindtorch/runtime/kernels/cpu/window.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// The two numbers of an argument for height and width; one number stands for both.
struct Pair {
  Pair(IntArrayRef values, const char* name, const char* op) {
    if (values.size() != 1 && values.size() != 2)
      throw_error<InvalidArgument>(op, "{} must either be a single int, or a tuple of two ints, got {}", name, to_string(values));
    h = values[0];
    w = values[values.size() - 1];
  }
  Pair(std::int64_t height, std::int64_t width) : h(height), w(width) {}
  std::int64_t h, w;
};

// Positions of a window along one dimension. With `ceil_mode` a last window may hang over the end, if it starts inside of the image or its
// padding.
inline std::int64_t window_positions(std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t pad, std::int64_t dilation,
                                     bool ceil_mode = false) {
  const std::int64_t room = in + 2 * pad - dilation * (kernel - 1) - 1;
  if (room < 0 && !ceil_mode) return 0;
  std::int64_t positions = (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  if (ceil_mode && (positions - 1) * stride >= in + pad) --positions;
  return positions;
}

// Computes out_h and out_w. Throws if the numbers are not consistent.
inline cpu::Window make_window(const Pair& in, const Pair& kernel, const Pair& stride, const Pair& pad, const Pair& dilation,
                               const char* op, bool ceil_mode = false) {
  if (kernel.h <= 0 || kernel.w <= 0)
    throw_error(op, "kernel size should be greater than zero, but got kernel_size=[{}, {}]", kernel.h, kernel.w);
  if (stride.h <= 0 || stride.w <= 0) throw_error(op, "non-positive stride is not supported, got [{}, {}]", stride.h, stride.w);
  if (pad.h < 0 || pad.w < 0) throw_error(op, "negative padding is not supported, got [{}, {}]", pad.h, pad.w);
  if (dilation.h <= 0 || dilation.w <= 0) throw_error(op, "dilation should be greater than zero, got [{}, {}]", dilation.h, dilation.w);
  const cpu::Window window{in.h,
                           in.w,
                           window_positions(in.h, kernel.h, stride.h, pad.h, dilation.h, ceil_mode),
                           window_positions(in.w, kernel.w, stride.w, pad.w, dilation.w, ceil_mode),
                           kernel.h,
                           kernel.w,
                           stride.h,
                           stride.w,
                           pad.h,
                           pad.w,
                           dilation.h,
                           dilation.w};
  if (window.out_h <= 0 || window.out_w <= 0)
    throw_error(
        op,
        "Calculated padded input size per channel: ({} x {}). Kernel size: ({} x {}). Kernel size can't be greater than actual input size",
        in.h + 2 * pad.h, in.w + 2 * pad.w, dilation.h * (kernel.h - 1) + 1, dilation.w * (kernel.w - 1) + 1);
  return window;
}

}  // namespace mindtorch

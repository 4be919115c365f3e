// A window that moves over an image: the geometry of convolution and pooling.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mindtorch/runtime/device.h"

namespace mindtorch::cpu {

struct Window {
  std::int64_t in_h, in_w, out_h, out_w;
  std::int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;

  std::int64_t pixels() const { return in_h * in_w; }
  std::int64_t positions() const { return out_h * out_w; }
  std::int64_t taps() const { return kernel_h * kernel_w; }
  // The columns of an image are the image.
  bool is_identity() const { return taps() == 1 && stride_h == 1 && stride_w == 1 && pad_h == 0 && pad_w == 0; }
  void map_addresses(const AddressMap&) {}
};

// The positions [first, last) of one dimension at which a tap lies inside of the image. Position p looks at pixel p * stride + offset.
struct Inside {
  std::int64_t first, last;
  Inside(std::int64_t in, std::int64_t out, std::int64_t offset, std::int64_t stride)
      : first(std::min(out, offset >= 0 ? 0 : (-offset + stride - 1) / stride)),
        last(std::clamp(in > offset ? (in - offset + stride - 1) / stride : 0, first, out)) {}
};

}  // namespace mindtorch::cpu

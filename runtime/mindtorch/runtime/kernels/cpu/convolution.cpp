// Kernels of two-dimensional convolution.
#include "mindtorch/runtime/kernels/cpu/convolution.h"

#include <algorithm>

#include "mindtorch/runtime/kernels/cpu/matmul.h"
#include "mindtorch/runtime/kernels/cpu/vectorize.h"
#include "mindtorch/runtime/parallel.h"

namespace mindtorch::cpu {

namespace {

// Calls f(tap_row, image_row, y, first, last, offset) for each run of positions of one tap whose pixels are in one row of the image:
// positions (y, x), first <= x < last, read pixel x * stride_w + offset of image_row. tap_row says which row of the matrix of columns they
// are in.
template <class F>
void each_run(const Window& w, std::int64_t channel, const F& f) {
  for (std::int64_t ky = 0; ky < w.kernel_h; ++ky)
    for (std::int64_t kx = 0; kx < w.kernel_w; ++kx) {
      const std::int64_t tap_row = (channel * w.kernel_h + ky) * w.kernel_w + kx;
      const std::int64_t offset_x = kx * w.dilation_w - w.pad_w, offset_y = ky * w.dilation_h - w.pad_h;
      const Inside columns(w.in_w, w.out_w, offset_x, w.stride_w);
      for (std::int64_t y = 0; y < w.out_h; ++y) {
        const std::int64_t pixel_y = y * w.stride_h + offset_y;
        const bool inside = pixel_y >= 0 && pixel_y < w.in_h;
        f(tap_row, channel * w.in_h + pixel_y, y, inside ? columns.first : w.out_w, inside ? columns.last : w.out_w, offset_x);
      }
    }
}

template <class T>
void unfold_channel(const Window& w, std::int64_t channel, T* columns, const T* in) {
  each_run(w, channel,
           [&](std::int64_t tap_row, std::int64_t image_row, std::int64_t y, std::int64_t first, std::int64_t last, std::int64_t offset) {
             T* to = columns + (tap_row * w.out_h + y) * w.out_w;
             std::fill(to, to + first, T{0});
             if (first < last) {
               const T* from = in + image_row * w.in_w + offset;
               if (w.stride_w == 1)
                 std::copy(from + first, from + last, to + first);
               else
                 for (std::int64_t x = first; x < last; ++x) to[x] = from[x * w.stride_w];
             }
             std::fill(to + last, to + w.out_w, T{0});
           });
}

template <class T>
void fold_channel(const Window& w, std::int64_t channel, T* out, const T* columns) {
  std::fill_n(out + channel * w.pixels(), w.pixels(), T{0});
  each_run(w, channel,
           [&](std::int64_t tap_row, std::int64_t image_row, std::int64_t y, std::int64_t first, std::int64_t last, std::int64_t offset) {
             if (first >= last) return;
             const T* from = columns + (tap_row * w.out_h + y) * w.out_w;
             T* to = out + image_row * w.in_w + offset;
             if (w.stride_w == 1) {
               MINDTORCH_INDEPENDENT_ITERATIONS
               for (std::int64_t x = first; x < last; ++x) to[x] += from[x];
             } else {
               for (std::int64_t x = first; x < last; ++x) to[x * w.stride_w] += from[x];
             }
           });
}

// Images and channels do not depend on each other.
template <class F>
void each_channel(const Window& w, std::int64_t batch, std::int64_t channels, const F& f) {
  const std::int64_t work = std::max<std::int64_t>(1, w.taps() * w.positions());
  parallel_for(0, batch * channels, kParallelGrain / work + 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) f(i / channels, i % channels);
  });
}

Matrix rows_of(const void* data, std::int64_t rows, std::int64_t columns) { return {const_cast<void*>(data), rows, columns, columns, 1}; }
Matrix transposed(const Matrix& m) { return {m.data, m.columns, m.rows, m.column_stride, m.row_stride}; }

// One image's part of a convolution, group by group: the three matrices of out = weight * columns.
template <class T, class F>
void each_group(const ConvolutionShape& shape, std::int64_t image, const T* out, const T* weight, const T* columns, const F& f) {
  const std::int64_t positions = shape.window.positions();
  for (std::int64_t g = 0; g < shape.groups; ++g)
    f(rows_of(out + (image * shape.out_channels + g * shape.group_outputs()) * positions, shape.group_outputs(), positions),
      rows_of(weight + g * shape.group_outputs() * shape.group_rows(), shape.group_outputs(), shape.group_rows()),
      rows_of(columns + g * shape.group_rows() * positions, shape.group_rows(), positions));
}

// The columns of one image: in `buffer`, or the image itself if unfolding would change nothing.
template <class T>
const T* columns_of(const ConvolutionShape& shape, std::int64_t image, const T* in, T* buffer) {
  const T* pixels = in + image * shape.in_channels * shape.window.pixels();
  if (shape.window.is_identity()) return pixels;
  im2col(shape.type, shape.window, 1, shape.in_channels, buffer, pixels);
  return buffer;
}

}  // namespace

void im2col(ScalarType type, const Window& w, std::int64_t batch, std::int64_t channels, void* columns, const void* in) {
  visit_floating_types(type, "aten::im2col", [&]<class T>() {
    each_channel(w, batch, channels, [&](std::int64_t image, std::int64_t channel) {
      unfold_channel(w, channel, static_cast<T*>(columns) + image * channels * w.taps() * w.positions(),
                     static_cast<const T*>(in) + image * channels * w.pixels());
    });
  });
}

void col2im(ScalarType type, const Window& w, std::int64_t batch, std::int64_t channels, void* out, const void* columns) {
  visit_floating_types(type, "aten::col2im", [&]<class T>() {
    each_channel(w, batch, channels, [&](std::int64_t image, std::int64_t channel) {
      fold_channel(w, channel, static_cast<T*>(out) + image * channels * w.pixels(),
                   static_cast<const T*>(columns) + image * channels * w.taps() * w.positions());
    });
  });
}

void convolution(const ConvolutionShape& shape, void* out, const void* in, const void* weight, const void* bias, void* columns) {
  visit_floating_types(shape.type, "aten::convolution", [&]<class T>() {
    const std::int64_t positions = shape.window.positions();
    for (std::int64_t image = 0; image < shape.batch; ++image) {
      const T* patches = columns_of(shape, image, static_cast<const T*>(in), static_cast<T*>(columns));
      if (bias != nullptr)
        for (std::int64_t c = 0; c < shape.out_channels; ++c)
          std::fill_n(static_cast<T*>(out) + (image * shape.out_channels + c) * positions, positions, static_cast<const T*>(bias)[c]);
      each_group(shape, image, static_cast<const T*>(out), static_cast<const T*>(weight), patches,
                 [&](const Matrix& result, const Matrix& filters, const Matrix& group) {
                   gemm(shape.type, result, filters, group, Scalar(1), Scalar(bias != nullptr ? 1 : 0));
                 });
    }
  });
}

void convolution_grad_input(const ConvolutionShape& shape, void* grad_in, const void* grad, const void* weight, void* columns) {
  visit_floating_types(shape.type, "aten::convolution_backward", [&]<class T>() {
    for (std::int64_t image = 0; image < shape.batch; ++image) {
      T* pixels = static_cast<T*>(grad_in) + image * shape.in_channels * shape.window.pixels();
      const bool direct = shape.window.is_identity();
      each_group(shape, image, static_cast<const T*>(grad), static_cast<const T*>(weight), direct ? pixels : static_cast<T*>(columns),
                 [&](const Matrix& result, const Matrix& filters, const Matrix& group) {
                   gemm(shape.type, group, transposed(filters), result, Scalar(1), Scalar(0));
                 });
      if (!direct) col2im(shape.type, shape.window, 1, shape.in_channels, pixels, columns);
    }
  });
}

void convolution_grad_weight(const ConvolutionShape& shape, void* grad_weight, const void* grad, const void* in, void* columns) {
  visit_floating_types(shape.type, "aten::convolution_backward", [&]<class T>() {
    if (shape.batch == 0) std::fill_n(static_cast<T*>(grad_weight), shape.out_channels * shape.group_rows(), T{0});
    for (std::int64_t image = 0; image < shape.batch; ++image) {
      const T* patches = columns_of(shape, image, static_cast<const T*>(in), static_cast<T*>(columns));
      each_group(shape, image, static_cast<const T*>(grad), static_cast<const T*>(grad_weight), patches,
                 [&](const Matrix& result, const Matrix& filters, const Matrix& group) {
                   gemm(shape.type, filters, result, transposed(group), Scalar(1), Scalar(image == 0 ? 0 : 1));
                 });
    }
  });
}

}  // namespace mindtorch::cpu

// Unfolding images to columns of patches, and folding them back.
#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/convolution.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/ops/convolution.h"
#include "mindtorch/runtime/ops/window.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;

constinit Op<Tensor(const Tensor&, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef)> im2col_op{
    "aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor"};
constinit Op<Tensor(const Tensor&, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef)> col2im_op{
    "aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor"};

cpu::Window window_of(const Pair& image, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride,
                      const char* op) {
  return make_window(image, Pair(kernel_size, "kernel_size", op), Pair(stride, "stride", op), Pair(padding, "padding", op),
                     Pair(dilation, "dilation", op), op);
}

Tensor im2col_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  constexpr const char* kOp = "aten::im2col";
  if (self.dim() == 3) return im2col_kernel(self.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0);
  if (self.dim() != 4)
    throw_error(kOp, "Expected 3D (unbatched) or 4D (batched) input, but got input of size: {}", to_string(self.sizes()));
  if (!self.is_floating_point()) throw_error(kOp, "not implemented for '{}'", scalar_type_title(self.dtype()));
  const cpu::Window window = window_of({self.size(2), self.size(3)}, kernel_size, dilation, padding, stride, kOp);
  const Tensor images = self.contiguous();
  const Tensor columns = new_tensor({self.size(0), self.size(1) * window.taps(), window.positions()}, self.dtype(), self.device());
  launch(self.device(), "im2col", cpu::im2col, self.dtype(), window, self.size(0), self.size(1), columns.data_ptr(), images.data_ptr());
  return columns;
}

Tensor col2im_kernel(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                     IntArrayRef stride) {
  constexpr const char* kOp = "aten::col2im";
  if (self.dim() == 2) return col2im_kernel(self.unsqueeze(0), output_size, kernel_size, dilation, padding, stride).squeeze(0);
  const Pair image(output_size, "output_size", kOp);
  const cpu::Window window = window_of(image, kernel_size, dilation, padding, stride, kOp);
  if (!self.is_floating_point()) throw_error(kOp, "not implemented for '{}'", scalar_type_title(self.dtype()));
  if (self.dim() != 3 || self.size(1) == 0 || self.size(1) % window.taps() != 0 || self.size(2) != window.positions())
    throw_error(kOp, "Expected input of size [batch, channels * {}, {}], but got {}", window.taps(), window.positions(),
                to_string(self.sizes()));
  const std::int64_t channels = self.size(1) / window.taps();
  const Tensor columns = self.contiguous(), images = new_tensor({self.size(0), channels, image.h, image.w}, self.dtype(), self.device());
  launch(self.device(), "col2im", cpu::col2im, self.dtype(), window, self.size(0), channels, images.data_ptr(), columns.data_ptr());
  return images;
}

struct Im2ColBackward0 {
  static constexpr std::string_view kName = "Im2ColBackward0";
  DimVector image, kernel_size, dilation, padding, stride;
  Im2ColBackward0(InputNeeds, const Tensor& self, IntArrayRef k, IntArrayRef d, IntArrayRef p, IntArrayRef s)
      : image{self.size(-2), self.size(-1)}, kernel_size(k), dilation(d), padding(p), stride(s) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, col2im_op(grad, image, kernel_size, dilation, padding, stride)); }
};

struct Col2ImBackward0 {
  static constexpr std::string_view kName = "Col2ImBackward0";
  DimVector kernel_size, dilation, padding, stride;
  Col2ImBackward0(InputNeeds, const Tensor&, IntArrayRef, IntArrayRef k, IntArrayRef d, IntArrayRef p, IntArrayRef s)
      : kernel_size(k), dilation(d), padding(p), stride(s) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, im2col_op(grad, kernel_size, dilation, padding, stride)); }
};

}  // namespace

Tensor im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  return im2col_op(self, kernel_size, dilation, padding, stride);
}
Tensor col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
              IntArrayRef stride) {
  return col2im_op(self, output_size, kernel_size, dilation, padding, stride);
}

void register_im2col_ops(Library& library) {
  library.define<im2col_op>().kernel<im2col_kernel>().autograd<Im2ColBackward0>();
  library.define<col2im_op>().kernel<col2im_kernel>().autograd<Col2ImBackward0>();
}

}  // namespace mindtorch

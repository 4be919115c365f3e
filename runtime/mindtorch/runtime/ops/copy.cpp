// Copies and conversions.
#include "mindtorch/runtime/ops/copy.h"

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/copy.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/pointwise.h"
#include "mindtorch/runtime/scalar_range.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;

constinit Op<Tensor(const Tensor&, const Tensor&, bool)> copy__op{
    "aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)"};
constinit Op<Tensor(const Tensor&, const Scalar&)> fill__op{"aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)"};
constinit Op<Tensor(const Tensor&)> zero__op{"aten::zero_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Tensor(const Tensor&, std::optional<MemoryFormat>)> clone_op{
    "aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, std::optional<MemoryFormat>)> contiguous_op{
    "aten::contiguous(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&)> detach_op{"aten::detach(Tensor(a) self) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&, ScalarType, bool, bool, std::optional<MemoryFormat>)> to_dtype_op{
    "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> "
    "Tensor(a)"};
constinit Op<Tensor(const Tensor&, Device, ScalarType, bool, bool, std::optional<MemoryFormat>)> to_device_op{
    "aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? "
    "memory_format=None) -> "
    "Tensor(a)"};
constinit Op<Tensor(const Tensor&, std::optional<ScalarType>, std::optional<Layout>, std::optional<Device>, std::optional<bool>, bool,
                    std::optional<MemoryFormat>)>
    to_copy_op{
        "aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool "
        "non_blocking=False, MemoryFormat? memory_format=None) -> Tensor"};
constinit Op<Scalar(const Tensor&)> item_op{"aten::item(Tensor self) -> Scalar"};
constinit Op<Scalar(const Tensor&)> local_scalar_op{"aten::_local_scalar_dense(Tensor self) -> Scalar"};

// ---- kernels ----

void copy_on_device(const Tensor& self, const Tensor& src) {
  const LoopPlan<2> plan = make_loop_plan<2>(self.sizes(), {LoopOperand{&self}, LoopOperand{&src}});
  launch(self.device(), "copy", cpu::copy, self.dtype(), src.dtype(), plan);
}

// Between devices: bytes move between contiguous tensors; strides and types change where the tensor is.
void copy_between_devices(const Tensor& self, const Tensor& src, bool non_blocking) {
  Tensor from = src.expand(self.sizes());
  if (from.dtype() != self.dtype() || !from.is_contiguous()) {
    Tensor packed = new_tensor(self.sizes(), self.dtype(), src.device());
    copy_on_device(packed, from);
    from = packed;
  }
  const Tensor to = self.is_contiguous() ? self : new_tensor(self.sizes(), self.dtype(), self.device());
  const std::size_t bytes = to.nbytes();
  if (to.device().is_cpu()) {
    device_backend(from.device()).copy(from.device(), to.data_ptr(), from.data_ptr(), bytes, DeviceBackend::CopyKind::kDeviceToHost);
  } else if (from.device().is_cpu()) {
    device_backend(to.device())
        .copy(to.device(), to.data_ptr(), from.data_ptr(), bytes, DeviceBackend::CopyKind::kHostToDevice, non_blocking);
  } else {
    const Tensor host = new_tensor(self.sizes(), self.dtype(), Device());
    copy_between_devices(host, from, non_blocking);
    copy_between_devices(to, host, non_blocking);
  }
  if (!to.is_same(self)) copy_on_device(self, to);
}

Tensor copy__kernel(const Tensor& self, const Tensor& src, bool non_blocking) {
  if (self.is_same(src)) return self;
  if (!is_expandable_to(src.sizes(), self.sizes()))
    throw_error("aten::copy_", "The expanded size of the tensor {} must match the existing size {}", to_string(self.sizes()),
                to_string(src.sizes()));
  check_writable(self, "aten::copy_");
  if (self.device() != src.device())
    copy_between_devices(self, src, non_blocking);
  else if (self.storage() == src.storage() && !(self.strides() == src.strides() && self.storage_offset() == src.storage_offset()))
    copy_on_device(self, clone(src));
  else
    copy_on_device(self, src);
  return self;
}

Tensor fill__kernel(const Tensor& self, const Scalar& value) {
  check_fits(value, self.dtype(), "aten::fill_");
  launch(self.device(), "fill_", cpu::fill, self.dtype(), make_loop_plan<1>(self.sizes(), {LoopOperand{&self}}), value);
  return self;
}

Tensor zero__kernel(const Tensor& self) {
  if (!self.device().is_cpu() && is_dense(self.sizes(), self.strides())) {
    device_backend(self.device()).zero(self.device(), self.data_ptr(), self.nbytes());
    return self;
  }
  launch(self.device(), "zero_", cpu::fill, self.dtype(), make_loop_plan<1>(self.sizes(), {LoopOperand{&self}}), Scalar(0));
  return self;
}

Tensor clone_kernel(const Tensor& self, std::optional<MemoryFormat> format) {
  const bool keeps_order = format.value_or(MemoryFormat::kPreserve) == MemoryFormat::kPreserve && is_dense(self.sizes(), self.strides());
  const Tensor result = keeps_order && !self.is_contiguous() ? new_strided_tensor(self.sizes(), self.strides(), self.dtype(), self.device())
                                                             : new_tensor(self.sizes(), self.dtype(), self.device());
  return copy__op(result, self, false);
}

Tensor contiguous_composite(const Tensor& self, std::optional<MemoryFormat>) {
  return self.is_contiguous() ? self : clone_op(self, MemoryFormat::kContiguous);
}

Tensor to_dtype_composite(const Tensor& self, ScalarType dtype, bool non_blocking, bool copy, std::optional<MemoryFormat> format) {
  if (self.dtype() == dtype && !copy) return self;
  return to_copy_op(self, dtype, std::nullopt, std::nullopt, std::nullopt, non_blocking, format);
}

Tensor to_device_composite(const Tensor& self, Device device, ScalarType dtype, bool non_blocking, bool copy,
                           std::optional<MemoryFormat> format) {
  if (self.dtype() == dtype && self.device() == device && !copy) return self;
  return to_copy_op(self, dtype, std::nullopt, device, std::nullopt, non_blocking, format);
}

Tensor to_copy_kernel(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout>, std::optional<Device> device,
                      std::optional<bool>, bool non_blocking, std::optional<MemoryFormat> format) {
  const ScalarType type = dtype.value_or(self.dtype());
  const Device place = device.value_or(self.device());
  const bool keeps_order = format.value_or(MemoryFormat::kPreserve) == MemoryFormat::kPreserve && !self.is_contiguous() &&
                           is_dense(self.sizes(), self.strides());
  const Tensor result = keeps_order ? new_strided_tensor(self.sizes(), self.strides(), type, place) : new_tensor(self.sizes(), type, place);
  return copy__op(result, self, non_blocking);
}

Scalar item_composite(const Tensor& self) {
  if (self.numel() != 1) throw_error("aten::item", "a Tensor with {} elements cannot be converted to Scalar", self.numel());
  return local_scalar_op(self);
}

Scalar local_scalar_kernel(const Tensor& self) {
  if (self.numel() == 0) throw_error("aten::_local_scalar_dense", "Empty tensor not supported");
  std::uint64_t bits = 0;
  device_backend(self.device()).copy(self.device(), &bits, self.data_ptr(), self.element_size(), DeviceBackend::CopyKind::kDeviceToHost);
  return visit_types(self.dtype(), [&]<class T>() {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return Scalar(value);
  });
}

// ---- derivatives ----

struct CopyBackwards {
  static constexpr std::string_view kName = "CopyBackwards";
  static constexpr bool kStopsAtIntegers = true;
  ScalarType type;
  Device device;
  CopyBackwards(InputNeeds, const Tensor&, const Tensor& src, bool) : type(src.dtype()), device(src.device()) {}
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, zeros_like(grad));
    if (grads.needs(1)) grads.set(1, grad.to(device, type));
  }
};

struct FillBackward0 {
  static constexpr std::string_view kName = "FillBackward0";
  FillBackward0(InputNeeds, const Tensor&, const Scalar&) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, zeros_like(grad)); }
};

struct ZeroBackward0 {
  static constexpr std::string_view kName = "ZeroBackward0";
  ZeroBackward0(InputNeeds, const Tensor&) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, zeros_like(grad)); }
};

struct CloneBackward0 {
  static constexpr std::string_view kName = "CloneBackward0";
  CloneBackward0(InputNeeds, const Tensor&, std::optional<MemoryFormat>) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad); }
};

struct ToCopyBackward0 {
  static constexpr std::string_view kName = "ToCopyBackward0";
  static constexpr bool kStopsAtIntegers = true;
  ScalarType type;
  Device device;
  template <class... Options>
  ToCopyBackward0(InputNeeds, const Tensor& self, const Options&...) : type(self.dtype()), device(self.device()) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad.to(device, type)); }
};

}  // namespace

Tensor clone(const Tensor& self) { return clone_op(self, std::nullopt); }
Tensor detach(const Tensor& self) { return detach_op(self); }

Tensor Tensor::copy_(const Tensor& src, bool non_blocking) const { return copy__op(*this, src, non_blocking); }
Tensor Tensor::fill_(const Scalar& value) const { return fill__op(*this, value); }
Tensor Tensor::zero_() const { return zero__op(*this); }
Tensor Tensor::clone() const { return clone_op(*this, std::nullopt); }
Tensor Tensor::contiguous() const { return is_contiguous() ? *this : contiguous_op(*this, MemoryFormat::kContiguous); }
Tensor Tensor::detach() const { return detach_op(*this); }
Tensor Tensor::to(ScalarType dtype, bool copy) const { return to_dtype_op(*this, dtype, false, copy, std::nullopt); }
Tensor Tensor::to(Device device, bool copy, bool non_blocking) const { return to(device, dtype(), copy, non_blocking); }
Tensor Tensor::to(Device device, ScalarType dtype, bool copy, bool non_blocking) const {
  return to_device_op(*this, device, dtype, non_blocking, copy, std::nullopt);
}
Scalar Tensor::item() const { return item_op(*this); }

void register_copy_ops(Library& library) {
  library.define<copy__op>().kernel<copy__kernel>().autograd<CopyBackwards>();
  library.define<fill__op>().kernel<fill__kernel>().autograd<FillBackward0>();
  library.define<zero__op>().kernel<zero__kernel>().autograd<ZeroBackward0>();
  library.define<clone_op>().kernel<clone_kernel>().autograd<CloneBackward0>();
  library.define<contiguous_op>().composite<contiguous_composite>();
  library.define<detach_op>().kernel<alias_without_history>().not_differentiable();
  library.define<to_dtype_op>().composite<to_dtype_composite>();
  library.define<to_device_op>().composite<to_device_composite>();
  library.define<to_copy_op>().kernel<to_copy_kernel>().autograd<ToCopyBackward0>();
  library.define<item_op>().composite<item_composite>();
  library.define<local_scalar_op>().kernel<local_scalar_kernel>().not_differentiable();
}

}  // namespace mindtorch

// New tensors.
#include "mindtorch/runtime/ops/creation.h"

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/ops/creation_options.h"

namespace mindtorch {

namespace {

constinit Op<Tensor(IntArrayRef, MINDTORCH_OPTION_TYPES, std::optional<MemoryFormat>)> empty_op{
    "aten::empty.memory_format(SymInt[] size, *, " MINDTORCH_OPTION_SCHEMA ", MemoryFormat? memory_format=None) -> Tensor"};
constinit Op<Tensor(IntArrayRef, IntArrayRef, MINDTORCH_OPTION_TYPES)> empty_strided_op{
    "aten::empty_strided(SymInt[] size, SymInt[] stride, *, " MINDTORCH_OPTION_SCHEMA ") -> Tensor"};
constinit Op<Tensor(IntArrayRef, MINDTORCH_OPTION_TYPES)> zeros_op{"aten::zeros(SymInt[] size, *, " MINDTORCH_OPTION_SCHEMA ") -> Tensor"};
constinit Op<Tensor(IntArrayRef, MINDTORCH_OPTION_TYPES)> ones_op{"aten::ones(SymInt[] size, *, " MINDTORCH_OPTION_SCHEMA ") -> Tensor"};
constinit Op<Tensor(IntArrayRef, const Scalar&, MINDTORCH_OPTION_TYPES)> full_op{
    "aten::full(SymInt[] size, Scalar fill_value, *, " MINDTORCH_OPTION_SCHEMA ") -> Tensor"};
constinit Op<Tensor(const Tensor&, MINDTORCH_OPTION_TYPES, std::optional<MemoryFormat>)> empty_like_op{
    "aten::empty_like(Tensor self, *, " MINDTORCH_OPTION_SCHEMA ", MemoryFormat? memory_format=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, MINDTORCH_OPTION_TYPES, std::optional<MemoryFormat>)> zeros_like_op{
    "aten::zeros_like(Tensor self, *, " MINDTORCH_OPTION_SCHEMA ", MemoryFormat? memory_format=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, MINDTORCH_OPTION_TYPES, std::optional<MemoryFormat>)> ones_like_op{
    "aten::ones_like(Tensor self, *, " MINDTORCH_OPTION_SCHEMA ", MemoryFormat? memory_format=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Scalar&, MINDTORCH_OPTION_TYPES, std::optional<MemoryFormat>)> full_like_op{
    "aten::full_like(Tensor self, Scalar fill_value, *, " MINDTORCH_OPTION_SCHEMA ", MemoryFormat? memory_format=None) -> Tensor"};

Tensor empty_kernel(IntArrayRef sizes, DtypeOption type, LayoutOption, DeviceOption device, PinOption, FormatOption) {
  return new_tensor(sizes, type.value_or(get_default_dtype()), device.value_or(Device()));
}

Tensor empty_strided_kernel(IntArrayRef sizes, IntArrayRef strides, DtypeOption type, LayoutOption, DeviceOption device, PinOption) {
  if (sizes.size() != strides.size())
    throw_error("aten::empty_strided", "dimensionality of sizes {} must match dimensionality of strides {}", to_string(sizes),
                to_string(strides));
  return new_strided_tensor(sizes, strides, type.value_or(get_default_dtype()), device.value_or(Device()));
}

Tensor zeros_kernel(IntArrayRef sizes, DtypeOption type, LayoutOption layout, DeviceOption device, PinOption pinned) {
  return empty_op(sizes, type, layout, device, pinned, std::nullopt).zero_();
}

Tensor ones_kernel(IntArrayRef sizes, DtypeOption type, LayoutOption layout, DeviceOption device, PinOption pinned) {
  return empty_op(sizes, type, layout, device, pinned, std::nullopt).fill_(1);
}

Tensor full_kernel(IntArrayRef sizes, const Scalar& value, DtypeOption type, LayoutOption layout, DeviceOption device, PinOption pinned) {
  if (!type) type = value.is_floating_point() ? get_default_dtype() : value.type();
  return empty_op(sizes, type, layout, device, pinned, std::nullopt).fill_(value);
}

Tensor empty_like_kernel(const Tensor& self, DtypeOption type, LayoutOption, DeviceOption device, PinOption, FormatOption format) {
  const ScalarType new_type = type.value_or(self.dtype());
  const Device new_device = device.value_or(self.device());
  const bool keeps_order = format.value_or(MemoryFormat::kPreserve) == MemoryFormat::kPreserve && !self.is_contiguous() &&
                           is_dense(self.sizes(), self.strides());
  return keeps_order ? new_strided_tensor(self.sizes(), self.strides(), new_type, new_device)
                     : new_tensor(self.sizes(), new_type, new_device);
}

Tensor zeros_like_kernel(const Tensor& self, DtypeOption type, LayoutOption layout, DeviceOption device, PinOption pinned,
                         FormatOption format) {
  return empty_like_op(self, type, layout, device, pinned, format).zero_();
}

Tensor ones_like_kernel(const Tensor& self, DtypeOption type, LayoutOption layout, DeviceOption device, PinOption pinned,
                        FormatOption format) {
  return empty_like_op(self, type, layout, device, pinned, format).fill_(1);
}

Tensor full_like_kernel(const Tensor& self, const Scalar& value, DtypeOption type, LayoutOption layout, DeviceOption device,
                        PinOption pinned, FormatOption format) {
  return empty_like_op(self, type, layout, device, pinned, format).fill_(value);
}

}  // namespace

Tensor empty(IntArrayRef sizes, const TensorOptions& o) {
  return with_grad(empty_op(sizes, o.dtype, kStrided, o.device, std::nullopt, std::nullopt), o);
}
Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& o) {
  return with_grad(empty_strided_op(sizes, strides, o.dtype, kStrided, o.device, std::nullopt), o);
}
Tensor zeros(IntArrayRef sizes, const TensorOptions& o) { return with_grad(zeros_op(sizes, o.dtype, kStrided, o.device, std::nullopt), o); }
Tensor ones(IntArrayRef sizes, const TensorOptions& o) { return with_grad(ones_op(sizes, o.dtype, kStrided, o.device, std::nullopt), o); }
Tensor full(IntArrayRef sizes, const Scalar& value, const TensorOptions& o) {
  return with_grad(full_op(sizes, value, o.dtype, kStrided, o.device, std::nullopt), o);
}
Tensor empty_like(const Tensor& self, const TensorOptions& o) {
  return with_grad(empty_like_op(self, o.dtype, kStrided, o.device, std::nullopt, std::nullopt), o);
}
Tensor zeros_like(const Tensor& self, const TensorOptions& o) {
  return with_grad(zeros_like_op(self, o.dtype, kStrided, o.device, std::nullopt, std::nullopt), o);
}
Tensor ones_like(const Tensor& self, const TensorOptions& o) {
  return with_grad(ones_like_op(self, o.dtype, kStrided, o.device, std::nullopt, std::nullopt), o);
}
Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& o) {
  return with_grad(full_like_op(self, value, o.dtype, kStrided, o.device, std::nullopt, std::nullopt), o);
}

template <class T>
Tensor tensor(std::span<const T> values, IntArrayRef sizes, const TensorOptions& options) {
  if (checked_numel(sizes) != static_cast<std::int64_t>(values.size()))
    throw_error("runtime.tensor", "{} values do not make a tensor of sizes {}", values.size(), to_string(sizes));
  const ScalarType natural = std::is_floating_point_v<T>       ? get_default_dtype()
                             : std::is_same_v<T, std::int32_t> ? kInt64
                                                               : scalar_type_of<T>;
  const Tensor host = new_tensor(sizes, scalar_type_of<T>, Device());
  std::copy(values.begin(), values.end(), static_cast<T*>(host.data_ptr()));
  BelowAutograd guard;
  return with_grad(host.to(options.device.value_or(Device()), options.dtype.value_or(natural)), options);
}
template Tensor tensor<float>(std::span<const float>, IntArrayRef, const TensorOptions&);
template Tensor tensor<double>(std::span<const double>, IntArrayRef, const TensorOptions&);
template Tensor tensor<std::int64_t>(std::span<const std::int64_t>, IntArrayRef, const TensorOptions&);
template Tensor tensor<std::int32_t>(std::span<const std::int32_t>, IntArrayRef, const TensorOptions&);
template Tensor tensor<std::uint8_t>(std::span<const std::uint8_t>, IntArrayRef, const TensorOptions&);
template Tensor tensor<bool>(std::span<const bool>, IntArrayRef, const TensorOptions&);

Tensor scalar_tensor(const Scalar& value, const TensorOptions& options) { return full({}, value, options); }

Tensor from_blob(void* data, IntArrayRef sizes, ScalarType dtype, std::function<void()> release) {
  const auto bytes = static_cast<std::size_t>(checked_numel(sizes)) * element_size(dtype);
  return Tensor(make_intrusive<TensorImpl>(Storage::wrap(data, bytes, Device(), std::move(release)), dtype, sizes));
}

void register_creation_ops(Library& library) {
  library.define<empty_op>().kernel<empty_kernel>().not_differentiable();
  library.define<empty_strided_op>().kernel<empty_strided_kernel>().not_differentiable();
  library.define<zeros_op>().kernel<zeros_kernel>().not_differentiable();
  library.define<ones_op>().kernel<ones_kernel>().not_differentiable();
  library.define<full_op>().kernel<full_kernel>().not_differentiable();
  library.define<empty_like_op>().kernel<empty_like_kernel>().not_differentiable();
  library.define<zeros_like_op>().kernel<zeros_like_kernel>().not_differentiable();
  library.define<ones_like_op>().kernel<ones_like_kernel>().not_differentiable();
  library.define<full_like_op>().kernel<full_like_kernel>().not_differentiable();
}

}  // namespace mindtorch

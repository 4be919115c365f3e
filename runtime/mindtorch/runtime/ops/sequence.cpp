// Tensors made of sequences: arange, linspace, eye.
#include "mindtorch/runtime/ops/sequence.h"

#include <cmath>

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/sequence.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/ops/creation_options.h"

namespace mindtorch {

namespace {

constinit Op<Tensor(const Scalar&, MINDTORCH_OPTION_TYPES)> arange_op{"aten::arange(Scalar end, *, " MINDTORCH_OPTION_SCHEMA ") -> Tensor"};
constinit Op<Tensor(const Scalar&, const Scalar&, MINDTORCH_OPTION_TYPES)> arange_start_op{
    "aten::arange.start(Scalar start, Scalar end, *, " MINDTORCH_OPTION_SCHEMA ") -> Tensor"};
constinit Op<Tensor(const Scalar&, const Scalar&, const Scalar&, MINDTORCH_OPTION_TYPES)> arange_step_op{
    "aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, " MINDTORCH_OPTION_SCHEMA ") -> Tensor"};
constinit Op<Tensor(const Scalar&, const Scalar&, std::int64_t, MINDTORCH_OPTION_TYPES)> linspace_op{
    "aten::linspace(Scalar start, Scalar end, int steps, *, " MINDTORCH_OPTION_SCHEMA ") -> Tensor"};
constinit Op<Tensor(std::int64_t, MINDTORCH_OPTION_TYPES)> eye_op{"aten::eye(SymInt n, *, " MINDTORCH_OPTION_SCHEMA ") -> Tensor"};
constinit Op<Tensor(std::int64_t, std::int64_t, MINDTORCH_OPTION_TYPES)> eye_m_op{
    "aten::eye.m(SymInt n, SymInt m, *, " MINDTORCH_OPTION_SCHEMA ") -> Tensor"};

Tensor arange_step_kernel(const Scalar& start, const Scalar& end, const Scalar& step, DtypeOption type, LayoutOption, DeviceOption device,
                          PinOption) {
  const bool is_real = start.is_floating_point() || end.is_floating_point() || step.is_floating_point();
  const ScalarType out_type = type.value_or(is_real ? get_default_dtype() : kInt64);
  if (out_type == kBool) throw_error("aten::arange", "not implemented for 'Bool'");
  // int64 is counted in int64, whatever the limits were written as.
  if (is_real && out_type == kInt64 && std::isfinite(start.to_double()) && std::isfinite(end.to_double())) {
    if (step.to_int() == 0) throw_error<InvalidArgument>("aten::arange", "step must be nonzero, got {}", step.to_double());
    return arange_step_kernel(start.to_int(), end.to_int(), step.to_int(), type, {}, device, {});
  }
  const double from = start.to_double(), to = end.to_double(), by = step.to_double();
  if (!(by > 0 || by < 0)) throw_error("aten::arange", "step must be nonzero, got {}", by);
  if (!std::isfinite(from) || !std::isfinite(to)) throw_error("aten::arange", "unsupported range: {} -> {}", from, to);
  if ((by > 0 && to < from) || (by < 0 && to > from))
    throw_error("aten::arange", "upper bound and lower bound inconsistent with step sign: {} -> {} by {}", from, to, by);
  std::int64_t n;
  if (is_real) {
    n = static_cast<std::int64_t>(std::ceil((to - from) / by));
  } else {
    const std::int64_t sign = step.to_int() > 0 ? 1 : -1;
    n = (end.to_int() - start.to_int() + step.to_int() - sign) / step.to_int();
  }
  const Tensor out = new_tensor({n}, out_type, device.value_or(Device()));
  launch(out.device(), "arange", cpu::arange, out.dtype(), out.data_ptr(), n, start, step);
  return out;
}
Tensor arange_kernel(const Scalar& end, DtypeOption type, LayoutOption layout, DeviceOption device, PinOption pinned) {
  return arange_step_kernel(end.is_floating_point() ? Scalar(0.0) : Scalar(0), end, 1, type, layout, device, pinned);
}
Tensor arange_start_kernel(const Scalar& start, const Scalar& end, DtypeOption type, LayoutOption layout, DeviceOption device,
                           PinOption pinned) {
  return arange_step_kernel(start, end, 1, type, layout, device, pinned);
}

Tensor linspace_kernel(const Scalar& start, const Scalar& end, std::int64_t steps, DtypeOption type, LayoutOption, DeviceOption device,
                       PinOption) {
  if (steps < 0) throw_error("aten::linspace", "number of steps must be non-negative, got {}", steps);
  if (type == kBool) throw_error("aten::linspace", "not implemented for 'Bool'");
  const Tensor out = new_tensor({steps}, type.value_or(get_default_dtype()), device.value_or(Device()));
  launch(out.device(), "linspace", cpu::linspace, out.dtype(), out.data_ptr(), steps, start.to_double(), end.to_double());
  return out;
}

Tensor eye_m_kernel(std::int64_t n, std::int64_t m, DtypeOption type, LayoutOption, DeviceOption device, PinOption) {
  if (n < 0 || m < 0) throw_error("aten::eye", "n and m must be greater or equal to 0, got {} and {}", n, m);
  const Tensor out = new_tensor({n, m}, type.value_or(get_default_dtype()), device.value_or(Device()));
  launch(out.device(), "eye", cpu::eye, out.dtype(), out.data_ptr(), n, m);
  return out;
}
Tensor eye_kernel(std::int64_t n, DtypeOption type, LayoutOption layout, DeviceOption device, PinOption pinned) {
  return eye_m_kernel(n, n, type, layout, device, pinned);
}

}  // namespace

Tensor arange(const Scalar& end, const TensorOptions& o) { return with_grad(arange_op(end, o.dtype, kStrided, o.device, std::nullopt), o); }
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& o) {
  return with_grad(arange_start_op(start, end, o.dtype, kStrided, o.device, std::nullopt), o);
}
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& o) {
  return with_grad(arange_step_op(start, end, step, o.dtype, kStrided, o.device, std::nullopt), o);
}
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, const TensorOptions& o) {
  return with_grad(linspace_op(start, end, steps, o.dtype, kStrided, o.device, std::nullopt), o);
}
Tensor eye(std::int64_t n, const TensorOptions& o) { return with_grad(eye_op(n, o.dtype, kStrided, o.device, std::nullopt), o); }
Tensor eye(std::int64_t n, std::int64_t m, const TensorOptions& o) {
  return with_grad(eye_m_op(n, m, o.dtype, kStrided, o.device, std::nullopt), o);
}

void register_sequence_ops(Library& library) {
  library.define<arange_op>().kernel<arange_kernel>().not_differentiable();
  library.define<arange_start_op>().kernel<arange_start_kernel>().not_differentiable();
  library.define<arange_step_op>().kernel<arange_step_kernel>().not_differentiable();
  library.define<linspace_op>().kernel<linspace_kernel>().not_differentiable();
  library.define<eye_op>().kernel<eye_kernel>().not_differentiable();
  library.define<eye_m_op>().kernel<eye_m_kernel>().not_differentiable();
}

}  // namespace mindtorch

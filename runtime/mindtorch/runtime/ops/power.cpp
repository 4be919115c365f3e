// Powers, and the fused updates that optimizers are made of.
#include "mindtorch/runtime/ops/power.h"

#include <cmath>

#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/kernels/cpu/power.h"
#include "mindtorch/runtime/ops/pointwise_op.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;
using Fused = Tensor(const Tensor&, const Tensor&, const Tensor&, const Scalar&);

constinit Op<Tensor(const Tensor&, const Tensor&)> pow_op{"aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Scalar&)> pow_number_op{"aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Scalar&)> pow__number_op{"aten::pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)"};
constinit Op<Tensor(const Scalar&, const Tensor&)> pow_of_number_op{"aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor"};
constinit Op<Fused> addcmul_op{"aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor"};
constinit Op<Fused> addcmul__op{"aten::addcmul_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)"};
constinit Op<Fused> addcdiv_op{"aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor"};
constinit Op<Fused> addcdiv__op{"aten::addcdiv_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Tensor&)> lerp_op{
    "aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Scalar&)> lerp_number_op{
    "aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Scalar&)> lerp__number_op{
    "aten::lerp_.Scalar(Tensor(a!) self, Tensor end, Scalar weight) -> Tensor(a!)"};

// ---- kernels ----

void check_integer_power(ScalarType type, const Scalar& exponent) {
  if (!is_floating_point(type) && exponent.to_int() < 0) throw_error("aten::pow", "Integers to negative integer powers are not allowed.");
}

Tensor pow_kernel(const Tensor& self, const Tensor& exponent) {
  refuse_bool(result_type(self, exponent), "aten::pow");
  return binary_kernel<"aten::pow", cpu::pow, Tensor>(self, exponent);
}

Tensor pow_number_kernel(const Tensor& self, const Scalar& exponent) {
  const ScalarType type = result_type(self, exponent);
  check_integer_power(type, exponent);
  Pointwise<1> call("aten::pow", {self}, type, type);
  launch(call.device, "pow", cpu::pow_number, type, call.plan, exponent);
  return call.out;
}

Tensor pow__number_kernel(const Tensor& self, const Scalar& exponent) {
  const ScalarType type = result_type(self, exponent);
  check_in_place_type(type, self, "aten::pow_");
  check_integer_power(type, exponent);
  if (type != self.dtype()) return self.copy_(pow_number_kernel(self, exponent));
  Pointwise<1> call("aten::pow_", self, {self}, type);
  launch(call.device, "pow_", cpu::pow_number, type, call.plan, exponent);
  return self;
}

Tensor pow_of_number_kernel(const Scalar& self, const Tensor& exponent) {
  const ScalarType type = result_type(exponent, self);
  refuse_bool(type, "aten::pow");
  Pointwise<2> call("aten::pow", {self, exponent}, type, type);
  launch(call.device, "pow", cpu::pow, type, call.plan);
  return call.out;
}

// Integers can be multiplied and added, not divided.
template <auto loop>
void check_fused(ScalarType type, std::string_view op) {
  if (loop == cpu::addcdiv)
    need_floating(type, op);
  else
    refuse_bool(type, op);
}

template <FixedString op, auto loop>
Tensor fused_kernel(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  const ScalarType type = ResultType().add(self).add(tensor1).add(tensor2).get();
  check_fused<loop>(type, op.view());
  Pointwise<3> call(op.view(), {self, tensor1, tensor2}, type, type);
  launch(call.device, kernel_name<op>(), loop, type, call.plan, value);
  return call.out;
}

template <FixedString op, auto loop>
Tensor fused_in_place_kernel(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  const ScalarType type = ResultType().add(self).add(tensor1).add(tensor2).get();
  check_fused<loop>(type, op.view());
  check_in_place_type(type, self, op.view());
  if (type != self.dtype()) return self.copy_(fused_kernel<op, loop>(self, tensor1, tensor2, value));
  Pointwise<3> call(op.view(), self, {self, tensor1, tensor2}, type);
  launch(call.device, kernel_name<op>(), loop, type, call.plan, value);
  return self;
}

void check_lerp(const Tensor& self, const Tensor& end, const char* op) {
  if (self.dtype() != end.dtype())
    throw_error(op, "expected dtype {} for `end` but got dtype {}", dtype_name(self.dtype()), dtype_name(end.dtype()));
  need_floating(self.dtype(), op);
}

template <class Weight>
Tensor lerp_kernel(const Tensor& self, const Tensor& end, const Weight& weight) {
  check_lerp(self, end, "aten::lerp");
  Pointwise<3> call("aten::lerp", {self, end, weight}, self.dtype(), self.dtype());
  launch(call.device, "lerp", cpu::lerp, call.type, call.plan);
  return call.out;
}

Tensor lerp__number_kernel(const Tensor& self, const Tensor& end, const Scalar& weight) {
  check_lerp(self, end, "aten::lerp_");
  Pointwise<3> call("aten::lerp_", self, {self, end, weight}, self.dtype());
  launch(call.device, "lerp_", cpu::lerp, call.type, call.plan);
  return self;
}

// ---- derivatives ----

Scalar minus_one(const Scalar& exponent) {
  return exponent.is_floating_point() ? Scalar(exponent.to_double() - 1) : Scalar(exponent.to_int() - 1);
}

struct PowBackward0 {
  static constexpr std::string_view kName = "PowBackward0";
  SavedVariable self;
  Scalar exponent;
  PowBackward0(InputNeeds, const Tensor& x, const Scalar& e) : self(x), exponent(e) {}
  static bool saves_self(InputNeeds) { return true; }
  auto saved() { return std::tie(self); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (exponent.equals(0)) return grads.set(0, zeros_like(grad));
    grads.set(0, grad * (pow(grads.unpack(self), minus_one(exponent)) * exponent));
  }
};

struct PowBackward1 {
  static constexpr std::string_view kName = "PowBackward1";
  SavedVariable self, exponent, result;
  PowBackward1(InputNeeds, const Tensor& x, const Tensor& e) : self(x), exponent(e) {}
  void save_result(const Tensor& value) { result = SavedVariable(value, true); }
  auto saved() { return std::tie(self, exponent, result); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor x = grads.unpack(self), e = grads.unpack(exponent);
    if (grads.needs(0)) grads.set(0, where(e.eq(0), 0, grad * (e * pow(x, e.add(-1)))));
    // x ** e log x tends to 0 at x = 0 for e >= 0.
    if (grads.needs(1)) grads.set(1, grad * where(logical_and(x.eq(0), e.ge(0)), 0, grads.unpack(result) * x.log()));
  }
};

struct PowBackward2 {
  static constexpr std::string_view kName = "PowBackward2";
  SavedVariable exponent, result;
  Scalar base;
  PowBackward2(InputNeeds, const Scalar& x, const Tensor& e) : exponent(e), base(x) {}
  void save_result(const Tensor& value) { result = SavedVariable(value, true); }
  auto saved() { return std::tie(exponent, result); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor slope = grads.unpack(result) * std::log(base.to_double());
    grads.set(0, grad * (base.equals(0) ? where(grads.unpack(exponent).ge(0), 0, slope) : slope));
  }
};

struct AddcmulBackward0 {
  static constexpr std::string_view kName = "AddcmulBackward0";
  SavedVariable tensor1, tensor2;
  Scalar value;
  AddcmulBackward0(InputNeeds needs, const Tensor&, const Tensor& a, const Tensor& b, const Scalar& factor)
      : tensor1(needs[2] ? a : Tensor()), tensor2(needs[1] ? b : Tensor()), value(factor) {}
  auto saved() { return std::tie(tensor1, tensor2); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, grad);
    if (grads.needs(1)) grads.set(1, grad * (grads.unpack(tensor2) * value));
    if (grads.needs(2)) grads.set(2, grad * (grads.unpack(tensor1) * value));
  }
};

struct AddcdivBackward0 {
  static constexpr std::string_view kName = "AddcdivBackward0";
  SavedVariable tensor1, tensor2;
  Scalar value;
  AddcdivBackward0(InputNeeds needs, const Tensor&, const Tensor& a, const Tensor& b, const Scalar& factor)
      : tensor1(needs[2] ? a : Tensor()), tensor2(b), value(factor) {}
  auto saved() { return std::tie(tensor1, tensor2); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor divisor = grads.unpack(tensor2);
    if (grads.needs(0)) grads.set(0, grad);
    if (grads.needs(1)) grads.set(1, grad * (value / divisor));
    if (grads.needs(2)) grads.set(2, -grad * (value * grads.unpack(tensor1) / (divisor * divisor)));
  }
};

struct LerpBackward0 {
  static constexpr std::string_view kName = "LerpBackward0";
  Scalar weight;
  LerpBackward0(InputNeeds, const Tensor&, const Tensor&, const Scalar& w) : weight(w) {}
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, grad * (1 - weight.to_double()));
    if (grads.needs(1)) grads.set(1, grad * weight);
  }
};

struct LerpBackward1 {
  static constexpr std::string_view kName = "LerpBackward1";
  SavedVariable self, end, weight;
  LerpBackward1(InputNeeds, const Tensor& a, const Tensor& b, const Tensor& w) : self(a), end(b), weight(w) {}
  auto saved() { return std::tie(self, end, weight); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor w = grads.unpack(weight);
    if (grads.needs(0)) grads.set(0, grad * (1 - w));
    if (grads.needs(1)) grads.set(1, grad * w);
    if (grads.needs(2)) grads.set(2, grad * (grads.unpack(end) - grads.unpack(self)));
  }
};

}  // namespace

Tensor pow(const Tensor& self, const Tensor& exponent) { return pow_op(self, exponent); }
Tensor pow(const Tensor& self, const Scalar& exponent) { return pow_number_op(self, exponent); }
Tensor pow(const Scalar& self, const Tensor& exponent) { return pow_of_number_op(self, exponent); }
Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  return addcmul_op(self, tensor1, tensor2, value);
}
Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  return addcdiv_op(self, tensor1, tensor2, value);
}
Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) { return lerp_op(self, end, weight); }
Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight) { return lerp_number_op(self, end, weight); }

Tensor Tensor::pow(const Tensor& exponent) const { return pow_op(*this, exponent); }
Tensor Tensor::pow(const Scalar& exponent) const { return pow_number_op(*this, exponent); }
Tensor Tensor::pow_(const Scalar& exponent) const { return pow__number_op(*this, exponent); }
Tensor Tensor::addcmul_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
  return addcmul__op(*this, tensor1, tensor2, value);
}
Tensor Tensor::addcdiv_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
  return addcdiv__op(*this, tensor1, tensor2, value);
}
Tensor Tensor::lerp_(const Tensor& end, const Scalar& weight) const { return lerp__number_op(*this, end, weight); }

void register_power_ops(Library& library) {
  library.define<pow_op>().kernel<pow_kernel>().autograd<PowBackward1>();
  library.define<pow_number_op>().kernel<pow_number_kernel>().autograd<PowBackward0>();
  library.define<pow__number_op>().kernel<pow__number_kernel>().autograd<PowBackward0>();
  library.define<pow_of_number_op>().kernel<pow_of_number_kernel>().autograd<PowBackward2>();
  library.define<addcmul_op>().kernel<fused_kernel<"aten::addcmul", cpu::addcmul>>().autograd<AddcmulBackward0>();
  library.define<addcmul__op>().kernel<fused_in_place_kernel<"aten::addcmul_", cpu::addcmul>>().autograd<AddcmulBackward0>();
  library.define<addcdiv_op>().kernel<fused_kernel<"aten::addcdiv", cpu::addcdiv>>().autograd<AddcdivBackward0>();
  library.define<addcdiv__op>().kernel<fused_in_place_kernel<"aten::addcdiv_", cpu::addcdiv>>().autograd<AddcdivBackward0>();
  library.define<lerp_op>().kernel<lerp_kernel<Tensor>>().autograd<LerpBackward1>();
  library.define<lerp_number_op>().kernel<lerp_kernel<Scalar>>().autograd<LerpBackward0>();
  library.define<lerp__number_op>().kernel<lerp__number_kernel>().autograd<LerpBackward0>();
}

}  // namespace mindtorch

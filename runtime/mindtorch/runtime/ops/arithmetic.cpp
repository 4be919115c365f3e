// Addition, subtraction, multiplication, division.
#include "mindtorch/runtime/ops/arithmetic.h"

#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/kernels/cpu/arithmetic.h"
#include "mindtorch/runtime/ops/pointwise_op.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;

using BinaryAlpha = Tensor(const Tensor&, const Tensor&, const Scalar&);
using ScalarAlpha = Tensor(const Tensor&, const Scalar&, const Scalar&);
using Binary = Tensor(const Tensor&, const Tensor&);
using WithScalar = Tensor(const Tensor&, const Scalar&);
using Unary = Tensor(const Tensor&);

constinit Op<BinaryAlpha> add_op{"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"};
constinit Op<BinaryAlpha> add__op{"aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"};
constinit Op<ScalarAlpha> add_scalar_op{"aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"};
constinit Op<ScalarAlpha> add__scalar_op{"aten::add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)"};
constinit Op<BinaryAlpha> sub_op{"aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"};
constinit Op<BinaryAlpha> sub__op{"aten::sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"};
constinit Op<ScalarAlpha> sub_scalar_op{"aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"};
constinit Op<ScalarAlpha> sub__scalar_op{"aten::sub_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)"};
constinit Op<ScalarAlpha> rsub_scalar_op{"aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"};
constinit Op<Binary> mul_op{"aten::mul.Tensor(Tensor self, Tensor other) -> Tensor"};
constinit Op<Binary> mul__op{"aten::mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"};
constinit Op<WithScalar> mul_scalar_op{"aten::mul.Scalar(Tensor self, Scalar other) -> Tensor"};
constinit Op<WithScalar> mul__scalar_op{"aten::mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"};
constinit Op<Binary> div_op{"aten::div.Tensor(Tensor self, Tensor other) -> Tensor"};
constinit Op<Binary> div__op{"aten::div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"};
constinit Op<WithScalar> div_scalar_op{"aten::div.Scalar(Tensor self, Scalar other) -> Tensor"};
constinit Op<WithScalar> div__scalar_op{"aten::div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"};
constinit Op<Unary> neg_op{"aten::neg(Tensor self) -> Tensor"};
constinit Op<Unary> neg__op{"aten::neg_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> reciprocal_op{"aten::reciprocal(Tensor self) -> Tensor"};
constinit Op<Unary> reciprocal__op{"aten::reciprocal_(Tensor(a!) self) -> Tensor(a!)"};

// ---- kernels ----

void check_alpha(ScalarType type, const Scalar& alpha, std::string_view op) {
  if (alpha.is_floating_point() && !is_floating_point(type))
    throw_error(op, "For integral input tensors, argument alpha must not be a floating point number.");
  if (alpha.is_boolean() && type != kBool) throw_error(op, "Boolean alpha only supported for Boolean results.");
}

Scalar negated(const Scalar& alpha) { return alpha.is_floating_point() ? Scalar(-alpha.to_double()) : Scalar(-alpha.to_int()); }

template <class Other>
Tensor add_kernel(const Tensor& self, const Other& other, const Scalar& alpha) {
  const ScalarType type = result_type(self, other);
  check_alpha(type, alpha, "aten::add");
  Pointwise<2> call("aten::add", {self, other}, type, type);
  launch(call.device, "add", cpu::add, type, call.plan, alpha);
  return call.out;
}

template <class Other>
Tensor add__kernel(const Tensor& self, const Other& other, const Scalar& alpha) {
  const ScalarType type = result_type(self, other);
  check_in_place_type(type, self, "aten::add_");
  check_alpha(type, alpha, "aten::add_");
  if (type != self.dtype()) return self.copy_(add_kernel(self, other, alpha));
  Pointwise<2> call("aten::add_", self, {self, other}, type);
  launch(call.device, "add_", cpu::add, type, call.plan, alpha);
  return self;
}

bool is_bool(const Tensor& tensor) { return tensor.dtype() == kBool; }
bool is_bool(const Scalar& number) { return number.is_boolean(); }

template <class Other>
void check_sub(const Tensor& self, const Other& other, const Scalar& alpha, const char* op) {
  if (is_bool(self) && is_bool(other))
    throw_error(op,
                "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.");
  if (is_bool(self) || is_bool(other))
    throw_error(op,
                "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
                "`logical_not()` operator instead.");
  check_alpha(result_type(self, other), alpha, op);
}

template <class Other>
Tensor sub_kernel(const Tensor& self, const Other& other, const Scalar& alpha) {
  check_sub(self, other, alpha, "aten::sub");
  return add_kernel(self, other, negated(alpha));
}

template <class Other>
Tensor sub__kernel(const Tensor& self, const Other& other, const Scalar& alpha) {
  check_sub(self, other, alpha, "aten::sub_");
  return add__kernel(self, other, negated(alpha));
}

Tensor rsub_scalar_kernel(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  const ScalarType type = result_type(self, other);
  check_sub(self, other, alpha, "aten::rsub");
  Pointwise<2> call("aten::rsub", {self, other}, type, type);
  launch(call.device, "rsub", cpu::rsub, type, call.plan, alpha);
  return call.out;
}

template <class Other>
Tensor div_kernel(const Tensor& self, const Other& other) {
  const ScalarType type = floating_type(result_type(self, other));
  Pointwise<2> call("aten::div", {self, other}, type, type);
  launch(call.device, "div", cpu::div, type, call.plan);
  return call.out;
}

template <class Other>
Tensor div__kernel(const Tensor& self, const Other& other) {
  const ScalarType type = floating_type(result_type(self, other));
  check_in_place_type(type, self, "aten::div_");
  if (type != self.dtype()) return self.copy_(div_kernel(self, other));
  Pointwise<2> call("aten::div_", self, {self, other}, type);
  launch(call.device, "div_", cpu::div, type, call.plan);
  return self;
}

void check_neg(const Tensor& self) {
  if (is_bool(self))
    throw_error(
        "aten::neg",
        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` "
        "operator instead.");
}

Tensor neg_kernel(const Tensor& self) {
  check_neg(self);
  return unary_kernel<"aten::neg", cpu::neg>(self);
}
Tensor neg__kernel(const Tensor& self) {
  check_neg(self);
  return unary_in_place_kernel<"aten::neg_", cpu::neg, false>(self);
}

// ---- derivatives ----

struct AddBackward0 {
  static constexpr std::string_view kName = "AddBackward0";
  Scalar alpha;
  template <class Other>
  AddBackward0(InputNeeds, const Tensor&, const Other&, const Scalar& factor) : alpha(factor) {}
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, grad);
    if (grads.needs(1)) grads.set(1, alpha.equals(1) ? grad : grad * alpha);
  }
};

struct SubBackward0 {
  static constexpr std::string_view kName = "SubBackward0";
  Scalar alpha;
  template <class Other>
  SubBackward0(InputNeeds, const Tensor&, const Other&, const Scalar& factor) : alpha(factor) {}
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, grad);
    if (grads.needs(1)) grads.set(1, alpha.equals(1) ? grad.neg() : grad * negated(alpha));
  }
};

struct RsubBackward1 {
  static constexpr std::string_view kName = "RsubBackward1";
  Scalar alpha;
  RsubBackward1(InputNeeds, const Tensor&, const Scalar&, const Scalar& factor) : alpha(factor) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, alpha.equals(1) ? grad.neg() : grad * negated(alpha)); }
};

struct MulBackward0 {
  static constexpr std::string_view kName = "MulBackward0";
  SavedVariable self, other;
  MulBackward0(InputNeeds needs, const Tensor& a, const Tensor& b) : self(needs[1] ? a : Tensor()), other(needs[0] ? b : Tensor()) {}
  static bool saves_self(InputNeeds needs) { return needs[1]; }
  auto saved() { return std::tie(self, other); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, grad * grads.unpack(other));
    if (grads.needs(1)) grads.set(1, grad * grads.unpack(self));
  }
};

struct MulScalarBackward {
  static constexpr std::string_view kName = "MulBackward0";
  Scalar factor;
  MulScalarBackward(InputNeeds, const Tensor&, const Scalar& other) : factor(other) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad * factor); }
};

struct DivBackward0 {
  static constexpr std::string_view kName = "DivBackward0";
  SavedVariable self, other;
  DivBackward0(InputNeeds needs, const Tensor& a, const Tensor& b) : self(needs[1] ? a : Tensor()), other(b) {}
  static bool saves_self(InputNeeds needs) { return needs[1]; }
  auto saved() { return std::tie(self, other); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor divisor = grads.unpack(other);
    if (grads.needs(0)) grads.set(0, grad / divisor);
    if (grads.needs(1)) grads.set(1, -grad * ((grads.unpack(self) / divisor) / divisor));
  }
};

struct DivScalarBackward {
  static constexpr std::string_view kName = "DivBackward0";
  Scalar divisor;
  DivScalarBackward(InputNeeds, const Tensor&, const Scalar& other) : divisor(other) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad / divisor); }
};

using NegBackward0 = GradientOf<"NegBackward0", [](const Tensor& grad) { return -grad; }>;
using ReciprocalBackward0 =
    GradientOfResult<"ReciprocalBackward0", [](const Tensor& grad, const Tensor& result) { return -grad * (result * result); }>;

}  // namespace

// ---- functions ----

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) { return add_op(self, other, alpha); }
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha) { return add_scalar_op(self, other, alpha); }
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) { return sub_op(self, other, alpha); }
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha) { return sub_scalar_op(self, other, alpha); }
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha) { return rsub_scalar_op(self, other, alpha); }
Tensor mul(const Tensor& self, const Tensor& other) { return mul_op(self, other); }
Tensor mul(const Tensor& self, const Scalar& other) { return mul_scalar_op(self, other); }
Tensor div(const Tensor& self, const Tensor& other) { return div_op(self, other); }
Tensor div(const Tensor& self, const Scalar& other) { return div_scalar_op(self, other); }
Tensor neg(const Tensor& self) { return neg_op(self); }
Tensor reciprocal(const Tensor& self) { return reciprocal_op(self); }

Tensor Tensor::add(const Tensor& other, const Scalar& alpha) const { return add_op(*this, other, alpha); }
Tensor Tensor::add(const Scalar& other, const Scalar& alpha) const { return add_scalar_op(*this, other, alpha); }
Tensor Tensor::add_(const Tensor& other, const Scalar& alpha) const { return add__op(*this, other, alpha); }
Tensor Tensor::add_(const Scalar& other, const Scalar& alpha) const { return add__scalar_op(*this, other, alpha); }
Tensor Tensor::sub(const Tensor& other, const Scalar& alpha) const { return sub_op(*this, other, alpha); }
Tensor Tensor::sub(const Scalar& other, const Scalar& alpha) const { return sub_scalar_op(*this, other, alpha); }
Tensor Tensor::sub_(const Tensor& other, const Scalar& alpha) const { return sub__op(*this, other, alpha); }
Tensor Tensor::sub_(const Scalar& other, const Scalar& alpha) const { return sub__scalar_op(*this, other, alpha); }
Tensor Tensor::mul(const Tensor& other) const { return mul_op(*this, other); }
Tensor Tensor::mul(const Scalar& other) const { return mul_scalar_op(*this, other); }
Tensor Tensor::mul_(const Tensor& other) const { return mul__op(*this, other); }
Tensor Tensor::mul_(const Scalar& other) const { return mul__scalar_op(*this, other); }
Tensor Tensor::div(const Tensor& other) const { return div_op(*this, other); }
Tensor Tensor::div(const Scalar& other) const { return div_scalar_op(*this, other); }
Tensor Tensor::div_(const Tensor& other) const { return div__op(*this, other); }
Tensor Tensor::div_(const Scalar& other) const { return div__scalar_op(*this, other); }
Tensor Tensor::neg() const { return neg_op(*this); }
Tensor Tensor::neg_() const { return neg__op(*this); }
Tensor Tensor::reciprocal() const { return reciprocal_op(*this); }
Tensor Tensor::reciprocal_() const { return reciprocal__op(*this); }

void register_arithmetic_ops(Library& library) {
  library.define<add_op>().kernel<add_kernel<Tensor>>().autograd<AddBackward0>();
  library.define<add__op>().kernel<add__kernel<Tensor>>().autograd<AddBackward0>();
  library.define<add_scalar_op>().kernel<add_kernel<Scalar>>().autograd<AddBackward0>();
  library.define<add__scalar_op>().kernel<add__kernel<Scalar>>().autograd<AddBackward0>();
  library.define<sub_op>().kernel<sub_kernel<Tensor>>().autograd<SubBackward0>();
  library.define<sub__op>().kernel<sub__kernel<Tensor>>().autograd<SubBackward0>();
  library.define<sub_scalar_op>().kernel<sub_kernel<Scalar>>().autograd<SubBackward0>();
  library.define<sub__scalar_op>().kernel<sub__kernel<Scalar>>().autograd<SubBackward0>();
  library.define<rsub_scalar_op>().kernel<rsub_scalar_kernel>().autograd<RsubBackward1>();
  library.define<mul_op>().kernel<binary_kernel<"aten::mul", cpu::mul, Tensor>>().autograd<MulBackward0>();
  library.define<mul__op>().kernel<binary_in_place_kernel<"aten::mul_", cpu::mul, Tensor>>().autograd<MulBackward0>();
  library.define<mul_scalar_op>().kernel<binary_kernel<"aten::mul", cpu::mul, Scalar>>().autograd<MulScalarBackward>();
  library.define<mul__scalar_op>().kernel<binary_in_place_kernel<"aten::mul_", cpu::mul, Scalar>>().autograd<MulScalarBackward>();
  library.define<div_op>().kernel<div_kernel<Tensor>>().autograd<DivBackward0>();
  library.define<div__op>().kernel<div__kernel<Tensor>>().autograd<DivBackward0>();
  library.define<div_scalar_op>().kernel<div_kernel<Scalar>>().autograd<DivScalarBackward>();
  library.define<div__scalar_op>().kernel<div__kernel<Scalar>>().autograd<DivScalarBackward>();
  library.define<neg_op>().kernel<neg_kernel>().autograd<NegBackward0>();
  library.define<neg__op>().kernel<neg__kernel>().autograd<NegBackward0>();
  library.define<reciprocal_op>().kernel<floating_unary_kernel<"aten::reciprocal", cpu::reciprocal>>().autograd<ReciprocalBackward0>();
  library.define<reciprocal__op>()
      .kernel<unary_in_place_kernel<"aten::reciprocal_", cpu::reciprocal, true>>()
      .autograd<ReciprocalBackward0>();
}

}  // namespace mindtorch

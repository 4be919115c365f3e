// Comparisons, and choices between elements.
#include "mindtorch/runtime/ops/comparison.h"

#include <cmath>
#include <limits>

#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/comparison.h"
#include "mindtorch/runtime/ops/pointwise_op.h"
#include "mindtorch/runtime/scalar_range.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;
using Binary = Tensor(const Tensor&, const Tensor&);
using WithScalar = Tensor(const Tensor&, const Scalar&);
using Limit = std::optional<Scalar>;

constinit Op<Binary> eq_op{"aten::eq.Tensor(Tensor self, Tensor other) -> Tensor"};
constinit Op<WithScalar> eq_scalar_op{"aten::eq.Scalar(Tensor self, Scalar other) -> Tensor"};
constinit Op<Binary> ne_op{"aten::ne.Tensor(Tensor self, Tensor other) -> Tensor"};
constinit Op<WithScalar> ne_scalar_op{"aten::ne.Scalar(Tensor self, Scalar other) -> Tensor"};
constinit Op<Binary> lt_op{"aten::lt.Tensor(Tensor self, Tensor other) -> Tensor"};
constinit Op<WithScalar> lt_scalar_op{"aten::lt.Scalar(Tensor self, Scalar other) -> Tensor"};
constinit Op<Binary> le_op{"aten::le.Tensor(Tensor self, Tensor other) -> Tensor"};
constinit Op<WithScalar> le_scalar_op{"aten::le.Scalar(Tensor self, Scalar other) -> Tensor"};
constinit Op<Binary> gt_op{"aten::gt.Tensor(Tensor self, Tensor other) -> Tensor"};
constinit Op<WithScalar> gt_scalar_op{"aten::gt.Scalar(Tensor self, Scalar other) -> Tensor"};
constinit Op<Binary> ge_op{"aten::ge.Tensor(Tensor self, Tensor other) -> Tensor"};
constinit Op<WithScalar> ge_scalar_op{"aten::ge.Scalar(Tensor self, Scalar other) -> Tensor"};
constinit Op<Binary> logical_and_op{"aten::logical_and(Tensor self, Tensor other) -> Tensor"};
constinit Op<Binary> logical_or_op{"aten::logical_or(Tensor self, Tensor other) -> Tensor"};
constinit Op<Binary> maximum_op{"aten::maximum(Tensor self, Tensor other) -> Tensor"};
constinit Op<Binary> minimum_op{"aten::minimum(Tensor self, Tensor other) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Tensor&)> where_op{
    "aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Scalar&)> where_other_op{
    "aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Scalar&, const Tensor&)> where_self_op{
    "aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Scalar&)> masked_fill_op{
    "aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Scalar&)> masked_fill__op{
    "aten::masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)"};
constinit Op<Tensor(const Tensor&, const Limit&, const Limit&)> clamp_op{
    "aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Limit&, const Limit&)> clamp__op{
    "aten::clamp_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)"};
constinit Op<WithScalar> clamp_min_op{"aten::clamp_min(Tensor self, Scalar min) -> Tensor"};
constinit Op<WithScalar> clamp_max_op{"aten::clamp_max(Tensor self, Scalar max) -> Tensor"};

// ---- kernels ----

Tensor where_kernel(const Tensor& condition, const Tensor& self, const Tensor& other) {
  if (condition.dtype() == kUint8) return where_kernel(condition.to(kBool), self, other);  // masks of old programs
  if (condition.dtype() != kBool)
    throw_error("aten::where", "expected condition to be a boolean tensor, but got a tensor with dtype {}",
                scalar_type_title(condition.dtype()));
  const ScalarType type = result_type(self, other);
  Pointwise<3> call("aten::where", {Operand::as_is(condition), self, other}, type, type);
  launch(call.device, "where", cpu::where, type, call.plan);
  return call.out;
}

// A number as a tensor that promotes like the number.
Tensor number_tensor(const Scalar& number) {
  const Tensor wrapped = scalar_tensor(number, {.dtype = number.type()});
  wrapped.impl()->set_wrapped_number();
  return wrapped;
}

Tensor where_other_composite(const Tensor& condition, const Tensor& self, const Scalar& other) {
  return where_op(condition, self, number_tensor(other));
}
Tensor where_self_composite(const Tensor& condition, const Scalar& self, const Tensor& other) {
  return where_op(condition, number_tensor(self), other);
}

void check_fill(const Tensor& self, const Tensor& mask, const Scalar& value, const char* op) {
  if (mask.dtype() != kBool)
    throw_error(op, "masked_fill only supports boolean masks, but got mask with dtype {}", scalar_type_title(mask.dtype()));
  check_fits(value, self.dtype(), op);
}

Tensor masked_fill_kernel(const Tensor& self, const Tensor& mask, const Scalar& value) {
  check_fill(self, mask, value, "aten::masked_fill");
  Pointwise<3> call("aten::masked_fill", {Operand::as_is(mask), value, self}, self.dtype(), self.dtype());
  launch(call.device, "masked_fill", cpu::where, call.type, call.plan);
  return call.out;
}

Tensor masked_fill__kernel(const Tensor& self, const Tensor& mask, const Scalar& value) {
  check_fill(self, mask, value, "aten::masked_fill_");
  Pointwise<3> call("aten::masked_fill_", self, {Operand::as_is(mask), value, self}, self.dtype());
  launch(call.device, "masked_fill_", cpu::where, call.type, call.plan);
  return self;
}

// Limits that are not given are the widest the type has.
Scalar low_limit(ScalarType type, const Limit& min) {
  if (min) return *min;
  return visit_types(type, []<class T>() {
    return std::is_floating_point_v<T> ? Scalar(-std::numeric_limits<double>::infinity()) : Scalar(std::numeric_limits<T>::lowest());
  });
}
Scalar high_limit(ScalarType type, const Limit& max) {
  if (max) return *max;
  return visit_types(type, []<class T>() {
    return std::is_floating_point_v<T> ? Scalar(std::numeric_limits<double>::infinity()) : Scalar(std::numeric_limits<T>::max());
  });
}

ScalarType clamp_type(const Tensor& self, const Limit& min, const Limit& max, const char* op) {
  if (!min && !max) throw_error(op, "At least one of 'min' or 'max' must not be None");
  ResultType type;
  type.add(self);
  if (min) type.add(*min);
  if (max) type.add(*max);
  refuse_bool(type.get(), op);
  return type.get();
}

// A limit that is not a number makes every element so.
bool has_nan(const Limit& min, const Limit& max) { return (min && std::isnan(min->to_double())) || (max && std::isnan(max->to_double())); }

Tensor clamp_kernel(const Tensor& self, const Limit& min, const Limit& max) {
  const ScalarType type = clamp_type(self, min, max, "aten::clamp");
  if (has_nan(min, max)) return full_like(self, std::numeric_limits<double>::quiet_NaN(), {.dtype = type});
  Pointwise<3> call("aten::clamp", {self, low_limit(type, min), high_limit(type, max)}, type, type);
  launch(call.device, "clamp", cpu::clamp, type, call.plan);
  return call.out;
}

Tensor clamp__kernel(const Tensor& self, const Limit& min, const Limit& max) {
  const ScalarType type = clamp_type(self, min, max, "aten::clamp_");
  check_in_place_type(type, self, "aten::clamp_");
  if (has_nan(min, max)) return self.fill_(std::numeric_limits<double>::quiet_NaN());
  Pointwise<3> call("aten::clamp_", self, {self, low_limit(self.dtype(), min), high_limit(self.dtype(), max)}, self.dtype());
  launch(call.device, "clamp_", cpu::clamp, call.type, call.plan);
  return self;
}

Tensor clamp_min_kernel(const Tensor& self, const Scalar& min) { return clamp_kernel(self, min, std::nullopt); }
Tensor clamp_max_kernel(const Tensor& self, const Scalar& max) { return clamp_kernel(self, std::nullopt, max); }

// ---- derivatives ----

// The larger (smaller) of two gets the gradient; equal ones share it.
template <FixedString name, auto first_wins>
struct PairwiseExtremumBackward {
  static constexpr std::string_view kName = name.view();
  SavedVariable self, other;
  PairwiseExtremumBackward(InputNeeds, const Tensor& a, const Tensor& b) : self(a), other(b) {}
  auto saved() { return std::tie(self, other); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor a = grads.unpack(self), b = grads.unpack(other);
    const Tensor shared = where(a.eq(b), grad / 2, grad);
    if (grads.needs(0)) grads.set(0, shared.masked_fill(first_wins(b, a), 0));
    if (grads.needs(1)) grads.set(1, shared.masked_fill(first_wins(a, b), 0));
  }
};
using MaximumBackward0 = PairwiseExtremumBackward<"MaximumBackward0", [](const Tensor& a, const Tensor& b) { return a.gt(b); }>;
using MinimumBackward0 = PairwiseExtremumBackward<"MinimumBackward0", [](const Tensor& a, const Tensor& b) { return a.lt(b); }>;

struct WhereBackward0 {
  static constexpr std::string_view kName = "WhereBackward0";
  SavedVariable condition;
  WhereBackward0(InputNeeds, const Tensor& mask, const Tensor&, const Tensor&) : condition(mask) {}
  auto saved() { return std::tie(condition); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor mask = grads.unpack(condition);
    if (grads.needs(1)) grads.set(1, where(mask, grad, 0));
    if (grads.needs(2)) grads.set(2, where(mask, 0, grad));
  }
};

struct MaskedFillBackward0 {
  static constexpr std::string_view kName = "MaskedFillBackward0";
  SavedVariable mask;
  MaskedFillBackward0(InputNeeds, const Tensor&, const Tensor& m, const Scalar&) : mask(m) {}
  auto saved() { return std::tie(mask); }
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad.masked_fill(grads.unpack(mask), 0)); }
};

// The gradient passes where the value was inside of the limits.
template <FixedString name>
struct ClampFormula {
  static constexpr std::string_view kName = name.view();
  SavedVariable self;
  Limit min, max;
  ClampFormula(InputNeeds, const Tensor& x, const Limit& low, const Limit& high) : self(x), min(low), max(high) {}
  ClampFormula(InputNeeds, const Tensor& x, const Scalar& limit) : self(x) { (name.view() == "ClampMinBackward0" ? min : max) = limit; }
  static bool saves_self(InputNeeds) { return true; }
  auto saved() { return std::tie(self); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor x = grads.unpack(self);
    Tensor result = grad;
    if (min) result = where(x.ge(*min), result, 0);
    if (max) result = where(x.le(*max), result, 0);
    grads.set(0, result);
  }
};
using ClampBackward1 = ClampFormula<"ClampBackward1">;
using ClampMinBackward0 = ClampFormula<"ClampMinBackward0">;
using ClampMaxBackward0 = ClampFormula<"ClampMaxBackward0">;

}  // namespace

Tensor eq(const Tensor& self, const Tensor& other) { return eq_op(self, other); }
Tensor eq(const Tensor& self, const Scalar& other) { return eq_scalar_op(self, other); }
Tensor ne(const Tensor& self, const Tensor& other) { return ne_op(self, other); }
Tensor ne(const Tensor& self, const Scalar& other) { return ne_scalar_op(self, other); }
Tensor lt(const Tensor& self, const Tensor& other) { return lt_op(self, other); }
Tensor lt(const Tensor& self, const Scalar& other) { return lt_scalar_op(self, other); }
Tensor le(const Tensor& self, const Tensor& other) { return le_op(self, other); }
Tensor le(const Tensor& self, const Scalar& other) { return le_scalar_op(self, other); }
Tensor gt(const Tensor& self, const Tensor& other) { return gt_op(self, other); }
Tensor gt(const Tensor& self, const Scalar& other) { return gt_scalar_op(self, other); }
Tensor ge(const Tensor& self, const Tensor& other) { return ge_op(self, other); }
Tensor ge(const Tensor& self, const Scalar& other) { return ge_scalar_op(self, other); }
Tensor logical_and(const Tensor& self, const Tensor& other) { return logical_and_op(self, other); }
Tensor logical_or(const Tensor& self, const Tensor& other) { return logical_or_op(self, other); }
Tensor maximum(const Tensor& self, const Tensor& other) { return maximum_op(self, other); }
Tensor minimum(const Tensor& self, const Tensor& other) { return minimum_op(self, other); }
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) { return where_op(condition, self, other); }
Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) { return where_other_op(condition, self, other); }
Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) { return where_self_op(condition, self, other); }
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) { return masked_fill_op(self, mask, value); }
Tensor clamp(const Tensor& self, const Limit& min, const Limit& max) { return clamp_op(self, min, max); }

Tensor Tensor::eq(const Tensor& other) const { return eq_op(*this, other); }
Tensor Tensor::eq(const Scalar& other) const { return eq_scalar_op(*this, other); }
Tensor Tensor::ne(const Tensor& other) const { return ne_op(*this, other); }
Tensor Tensor::ne(const Scalar& other) const { return ne_scalar_op(*this, other); }
Tensor Tensor::lt(const Tensor& other) const { return lt_op(*this, other); }
Tensor Tensor::lt(const Scalar& other) const { return lt_scalar_op(*this, other); }
Tensor Tensor::le(const Tensor& other) const { return le_op(*this, other); }
Tensor Tensor::le(const Scalar& other) const { return le_scalar_op(*this, other); }
Tensor Tensor::gt(const Tensor& other) const { return gt_op(*this, other); }
Tensor Tensor::gt(const Scalar& other) const { return gt_scalar_op(*this, other); }
Tensor Tensor::ge(const Tensor& other) const { return ge_op(*this, other); }
Tensor Tensor::ge(const Scalar& other) const { return ge_scalar_op(*this, other); }
Tensor Tensor::masked_fill(const Tensor& mask, const Scalar& value) const { return masked_fill_op(*this, mask, value); }
Tensor Tensor::masked_fill_(const Tensor& mask, const Scalar& value) const { return masked_fill__op(*this, mask, value); }
Tensor Tensor::clamp(const Limit& min, const Limit& max) const { return clamp_op(*this, min, max); }
Tensor Tensor::clamp_(const Limit& min, const Limit& max) const { return clamp__op(*this, min, max); }
Tensor Tensor::clamp_min(const Scalar& min) const { return clamp_min_op(*this, min); }
Tensor Tensor::clamp_max(const Scalar& max) const { return clamp_max_op(*this, max); }

void register_comparison_ops(Library& library) {
  library.define<eq_op>().kernel<predicate_kernel<"aten::eq", cpu::eq, Tensor>>().not_differentiable();
  library.define<eq_scalar_op>().kernel<predicate_kernel<"aten::eq", cpu::eq, Scalar>>().not_differentiable();
  library.define<ne_op>().kernel<predicate_kernel<"aten::ne", cpu::ne, Tensor>>().not_differentiable();
  library.define<ne_scalar_op>().kernel<predicate_kernel<"aten::ne", cpu::ne, Scalar>>().not_differentiable();
  library.define<lt_op>().kernel<predicate_kernel<"aten::lt", cpu::lt, Tensor>>().not_differentiable();
  library.define<lt_scalar_op>().kernel<predicate_kernel<"aten::lt", cpu::lt, Scalar>>().not_differentiable();
  library.define<le_op>().kernel<predicate_kernel<"aten::le", cpu::le, Tensor>>().not_differentiable();
  library.define<le_scalar_op>().kernel<predicate_kernel<"aten::le", cpu::le, Scalar>>().not_differentiable();
  library.define<gt_op>().kernel<predicate_kernel<"aten::gt", cpu::gt, Tensor>>().not_differentiable();
  library.define<gt_scalar_op>().kernel<predicate_kernel<"aten::gt", cpu::gt, Scalar>>().not_differentiable();
  library.define<ge_op>().kernel<predicate_kernel<"aten::ge", cpu::ge, Tensor>>().not_differentiable();
  library.define<ge_scalar_op>().kernel<predicate_kernel<"aten::ge", cpu::ge, Scalar>>().not_differentiable();
  library.define<logical_and_op>().kernel<predicate_kernel<"aten::logical_and", cpu::logical_and, Tensor>>().not_differentiable();
  library.define<logical_or_op>().kernel<predicate_kernel<"aten::logical_or", cpu::logical_or, Tensor>>().not_differentiable();
  library.define<maximum_op>().kernel<binary_kernel<"aten::maximum", cpu::maximum, Tensor>>().autograd<MaximumBackward0>();
  library.define<minimum_op>().kernel<binary_kernel<"aten::minimum", cpu::minimum, Tensor>>().autograd<MinimumBackward0>();
  library.define<where_op>().kernel<where_kernel>().autograd<WhereBackward0>();
  library.define<where_other_op>().composite<where_other_composite>();
  library.define<where_self_op>().composite<where_self_composite>();
  library.define<masked_fill_op>().kernel<masked_fill_kernel>().autograd<MaskedFillBackward0>();
  library.define<masked_fill__op>().kernel<masked_fill__kernel>().autograd<MaskedFillBackward0>();
  library.define<clamp_op>().kernel<clamp_kernel>().autograd<ClampBackward1>();
  library.define<clamp__op>().kernel<clamp__kernel>().autograd<ClampBackward1>();
  library.define<clamp_min_op>().kernel<clamp_min_kernel>().autograd<ClampMinBackward0>();
  library.define<clamp_max_op>().kernel<clamp_max_kernel>().autograd<ClampMaxBackward0>();
}

}  // namespace mindtorch

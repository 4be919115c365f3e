// Reductions: sums, means, products, truth, norms, variance.
#include "mindtorch/runtime/ops/reduction.h"

#include <cmath>
#include <limits>

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/ops/reduced_shape.h"
#include "mindtorch/runtime/type_promotion.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;
using Correction = std::optional<Scalar>;

constinit Op<Tensor(const Tensor&, OptionalType)> sum_op{"aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, OptionalDims, bool, OptionalType)> sum_dim_op{
    "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, OptionalType)> mean_op{"aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, OptionalDims, bool, OptionalType)> mean_dim_op{
    "aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, OptionalType)> prod_op{"aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, std::int64_t, bool, OptionalType)> prod_dim_op{
    "aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, OptionalDims, const Correction&, bool)> var_op{
    "aten::var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor"};
constinit Op<Tensor(const Tensor&, OptionalDims, const Correction&, bool)> std_op{
    "aten::std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Scalar&, OptionalDims, bool, OptionalType)> norm_op{
    "aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, IntArrayRef, bool)> logsumexp_op{
    "aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor"};
constinit Op<Tensor(const Tensor&)> any_op{"aten::any(Tensor self) -> Tensor"};
constinit Op<Tensor(const Tensor&, std::int64_t, bool)> any_dim_op{"aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor"};
constinit Op<Tensor(const Tensor&)> all_op{"aten::all(Tensor self) -> Tensor"};
constinit Op<Tensor(const Tensor&, std::int64_t, bool)> all_dim_op{"aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor"};

// ---- kernels ----

Tensor converted(const Tensor& self, ScalarType type) { return self.dtype() == type ? self : self.to(type); }

Tensor sum_dim_kernel(const Tensor& self, OptionalDims dims, bool keepdim, OptionalType dtype) {
  const ScalarType type = sum_type(self.dtype(), dtype);
  return reduce_tensor("aten::sum", converted(self, type), dims, keepdim, type, cpu::sum, 1.0);
}
Tensor sum_kernel(const Tensor& self, OptionalType dtype) { return sum_dim_kernel(self, std::nullopt, false, dtype); }

Tensor mean_dim_kernel(const Tensor& self, OptionalDims dims, bool keepdim, OptionalType dtype) {
  const ScalarType type = dtype.value_or(self.dtype());
  if (!is_floating_point(type))
    throw_error("aten::mean", "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {}",
                scalar_type_title(type));
  const std::int64_t count = ReducedShape(self, dims, "aten::mean").count();
  return reduce_tensor("aten::mean", converted(self, type), dims, keepdim, type, cpu::sum, 1.0 / static_cast<double>(count));
}
Tensor mean_kernel(const Tensor& self, OptionalType dtype) { return mean_dim_kernel(self, std::nullopt, false, dtype); }

Tensor prod_of(const Tensor& self, OptionalDims dims, bool keepdim, OptionalType dtype) {
  const ScalarType type = sum_type(self.dtype(), dtype);
  return reduce_tensor("aten::prod", converted(self, type), dims, keepdim, type, cpu::prod);
}
Tensor prod_kernel(const Tensor& self, OptionalType dtype) { return prod_of(self, std::nullopt, false, dtype); }
Tensor prod_dim_kernel(const Tensor& self, std::int64_t dim, bool keepdim, OptionalType dtype) {
  return prod_of(self, IntArrayRef(dim), keepdim, dtype);
}

template <bool square_root>
Tensor variance_kernel(const Tensor& self, OptionalDims dims, const Correction& correction, bool keepdim) {
  constexpr const char* kOp = square_root ? "aten::std" : "aten::var";
  if (!self.is_floating_point())
    throw_error(kOp, "std and var only support floating point and complex dtypes, got {}", scalar_type_title(self.dtype()));
  return reduce_tensor(kOp, self, dims, keepdim, self.dtype(), cpu::variance, correction.value_or(1).to_double(), square_root);
}

Tensor norm_kernel(const Tensor& self, const Scalar& p, OptionalDims dims, bool keepdim, OptionalType dtype) {
  constexpr const char* kOp = "aten::linalg_vector_norm";
  const ScalarType type = dtype.value_or(self.dtype());
  if (!self.is_floating_point() || !is_floating_point(type))
    throw_error(kOp, "Expected a floating point or complex tensor as input. Got {}",
                scalar_type_title(self.is_floating_point() ? type : self.dtype()));
  if (promote_types(self.dtype(), type) != type)
    throw_error(kOp, "the dtype of the input ({}) should be convertible without narrowing to the specified dtype ({})",
                scalar_type_title(self.dtype()), scalar_type_title(type));
  const double order = p.to_double();
  if ((order < 0 || std::isinf(order)) && ReducedShape(self, dims, kOp).count() == 0)
    throw_error(kOp, "cannot compute the {} norm on an empty tensor or dimension because the operation does not have an identity: {}",
                order, to_string(self.sizes()));
  return reduce_tensor(kOp, converted(self, type), dims, keepdim, type, cpu::norm, order);
}

// max + log sum exp(x - max); an infinite maximum is not subtracted, which would make NaN of it.
Tensor logsumexp_kernel(const Tensor& self, IntArrayRef dims, bool keepdim) {
  const Tensor input = converted(self, floating_type(self.dtype()));
  if (input.numel() == 0) return sum(exp(input), dims, keepdim).log();
  Tensor largest = amax(input, dims, true);
  largest = largest.masked_fill(largest.abs().eq(std::numeric_limits<double>::infinity()), 0);
  const Tensor total = (input - largest).exp_().sum(dims, keepdim).log_();
  return total.add_(keepdim ? largest : largest.reshape(total.sizes()));
}

// Truth is a bool, but for uint8, which was torch's bool once.
ScalarType truth_type(const Tensor& self) { return self.dtype() == kUint8 ? kUint8 : kBool; }

Tensor any_kernel(const Tensor& self) { return reduce_tensor("aten::any", self, std::nullopt, false, truth_type(self), cpu::any); }
Tensor all_kernel(const Tensor& self) { return reduce_tensor("aten::all", self, std::nullopt, false, truth_type(self), cpu::all); }
Tensor any_dim_kernel(const Tensor& self, std::int64_t dim, bool keepdim) {
  return reduce_tensor("aten::any", self, IntArrayRef(dim), keepdim, truth_type(self), cpu::any);
}
Tensor all_dim_kernel(const Tensor& self, std::int64_t dim, bool keepdim) {
  return reduce_tensor("aten::all", self, IntArrayRef(dim), keepdim, truth_type(self), cpu::all);
}

// ---- derivatives ----

struct SumBackward0 {
  static constexpr std::string_view kName = "SumBackward0";
  DimVector sizes;
  SumBackward0(InputNeeds, const Tensor& self, OptionalType) : sizes(self.sizes()) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad.expand(sizes)); }
};
struct SumBackward1 {
  static constexpr std::string_view kName = "SumBackward1";
  ReducedShape shape;
  SumBackward1(InputNeeds, const Tensor& self, OptionalDims dims, bool, OptionalType) : shape(self, dims, "aten::sum") {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, shape.expand(grad)); }
};
struct MeanBackward0 {
  static constexpr std::string_view kName = "MeanBackward0";
  DimVector sizes;
  std::int64_t numel;
  MeanBackward0(InputNeeds, const Tensor& self, OptionalType) : sizes(self.sizes()), numel(self.numel()) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad.expand(sizes) / numel); }
};
struct MeanBackward1 {
  static constexpr std::string_view kName = "MeanBackward1";
  ReducedShape shape;
  MeanBackward1(InputNeeds, const Tensor& self, OptionalDims dims, bool, OptionalType) : shape(self, dims, "aten::mean") {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, shape.expand(grad) / shape.count()); }
};

// The product of all others in each position. Where nothing is zero that is product / x; else it is put together from the products before
// and after.
Tensor product_of_others(const Tensor& self, const Tensor& product, std::int64_t dim) {
  if (self.dim() == 0 || !self.detach().eq(0).any().item<bool>()) return product / self;
  const std::int64_t n = self.size(dim);
  TensorVector before{ones_like(self.select(dim, 0))}, parts(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i + 1 < n; ++i) before.push_back(before.back() * self.select(dim, i));
  Tensor after = ones_like(before[0]);
  for (std::int64_t i = n - 1; i >= 0; --i) {
    parts[static_cast<std::size_t>(i)] = before[static_cast<std::size_t>(i)] * after;
    after = after * self.select(dim, i);
  }
  return stack(parts, dim);
}

struct ProdBackward0 {
  static constexpr std::string_view kName = "ProdBackward0";
  SavedVariable self, result;
  ProdBackward0(InputNeeds, const Tensor& x, OptionalType) : self(x) {}
  void save_result(const Tensor& value) { result = SavedVariable(value, true); }
  auto saved() { return std::tie(self, result); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor x = grads.unpack(self);
    grads.set(0, grad * product_of_others(x.reshape({x.numel()}), grads.unpack(result), 0).reshape(x.sizes()));
  }
};
struct ProdBackward1 {
  static constexpr std::string_view kName = "ProdBackward1";
  SavedVariable self, result;
  std::int64_t dim;
  bool keepdim;
  ProdBackward1(InputNeeds, const Tensor& x, std::int64_t d, bool keep, OptionalType)
      : self(x), dim(wrap_dim(d, x.dim(), "aten::prod")), keepdim(keep || x.dim() == 0) {}
  void save_result(const Tensor& value) { result = SavedVariable(value, true); }
  auto saved() { return std::tie(self, result); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const auto widened = [this](const Tensor& reduced) { return keepdim ? reduced : reduced.unsqueeze(dim); };
    grads.set(0, widened(grad) * product_of_others(grads.unpack(self), widened(grads.unpack(result)), dim));
  }
};

// 2 (x - mean) / (n - correction)
Tensor variance_slope(const Tensor& x, const ReducedShape& shape, double correction) {
  const Tensor center = shape.mask == 0 ? x : x.mean(shape.dims(), true);
  return (x - center) * (2.0 / (static_cast<double>(shape.count()) - correction));
}

struct VarBackward0 {
  static constexpr std::string_view kName = "VarBackward0";
  SavedVariable self;
  ReducedShape shape;
  double correction;
  VarBackward0(InputNeeds, const Tensor& x, OptionalDims dims, const Correction& c, bool)
      : self(x), shape(x, dims, "aten::var"), correction(c.value_or(1).to_double()) {}
  auto saved() { return std::tie(self); }
  void operator()(Gradients& grads, const Tensor& grad) {
    grads.set(0, shape.keep_dims(grad) * variance_slope(grads.unpack(self), shape, correction));
  }
};
struct StdBackward0 {
  static constexpr std::string_view kName = "StdBackward0";
  SavedVariable self, result;
  ReducedShape shape;
  double correction;
  StdBackward0(InputNeeds, const Tensor& x, OptionalDims dims, const Correction& c, bool)
      : self(x), shape(x, dims, "aten::std"), correction(c.value_or(1).to_double()) {}
  void save_result(const Tensor& value) { result = SavedVariable(value, true); }
  auto saved() { return std::tie(self, result); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor deviation = grads.unpack(result);
    const Tensor of_variance = (grad / (deviation * 2)).masked_fill(deviation.eq(0), 0);
    grads.set(0, shape.keep_dims(of_variance) * variance_slope(grads.unpack(self), shape, correction));
  }
};

struct LinalgVectorNormBackward0 {
  static constexpr std::string_view kName = "LinalgVectorNormBackward0";
  SavedVariable self, result;
  ReducedShape shape;
  double p;
  LinalgVectorNormBackward0(InputNeeds, const Tensor& x, const Scalar& order, OptionalDims dims, bool, OptionalType)
      : self(x), shape(x, dims, "aten::linalg_vector_norm"), p(order.to_double()) {}
  void save_result(const Tensor& value) { result = SavedVariable(value, true); }
  auto saved() { return std::tie(self, result); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor x = grads.unpack(self);
    const Tensor size = shape.keep_dims(grads.unpack(result)), g = shape.keep_dims(grad);
    if (p == 0) return;
    if (p == 1) return grads.set(0, x.sign() * g);
    // Nothing is divided by zero, so that the second derivative is a number too.
    const Tensor is_zero = size.eq(0);
    if (p == 2) return grads.set(0, x * (g / size.masked_fill(is_zero, 1)).masked_fill(is_zero, 0));
    if (std::isinf(p)) {
      const Tensor is_extreme = x.abs().eq(size).to(x.dtype());
      const Tensor ties = shape.mask == 0 ? is_extreme : is_extreme.sum(shape.dims(), true);
      return grads.set(0, x.sign() * is_extreme * (g / ties));
    }
    const Tensor direction = (x * x.abs().pow(p - 2)).masked_fill(x.eq(0), 0);
    grads.set(0, direction * (g / size.pow(p - 1).masked_fill(is_zero, 1)).masked_fill(is_zero, 0));
  }
};

struct LogsumexpBackward0 {
  static constexpr std::string_view kName = "LogsumexpBackward0";
  SavedVariable self, result;
  ReducedShape shape;
  LogsumexpBackward0(InputNeeds, const Tensor& x, IntArrayRef dims, bool) : self(x), shape(x, dims, "aten::logsumexp") {}
  void save_result(const Tensor& value) { result = SavedVariable(value, true); }
  auto saved() { return std::tie(self, result); }
  void operator()(Gradients& grads, const Tensor& grad) {
    grads.set(0, shape.keep_dims(grad) * exp(grads.unpack(self) - shape.keep_dims(grads.unpack(result))));
  }
};

}  // namespace

Tensor sum(const Tensor& self, OptionalType dtype) { return sum_op(self, dtype); }
Tensor sum(const Tensor& self, IntArrayRef dims, bool keepdim, OptionalType dtype) { return sum_dim_op(self, dims, keepdim, dtype); }
Tensor mean(const Tensor& self, OptionalType dtype) { return mean_op(self, dtype); }
Tensor mean(const Tensor& self, IntArrayRef dims, bool keepdim, OptionalType dtype) { return mean_dim_op(self, dims, keepdim, dtype); }
Tensor prod(const Tensor& self, OptionalType dtype) { return prod_op(self, dtype); }
Tensor prod(const Tensor& self, std::int64_t dim, bool keepdim, OptionalType dtype) { return prod_dim_op(self, dim, keepdim, dtype); }
Tensor var(const Tensor& self, OptionalDims dims, const Correction& correction, bool keepdim) {
  return var_op(self, dims, correction, keepdim);
}
Tensor std(const Tensor& self, OptionalDims dims, const Correction& correction, bool keepdim) {
  return std_op(self, dims, correction, keepdim);
}
Tensor norm(const Tensor& self, const Scalar& p, OptionalDims dims, bool keepdim) { return norm_op(self, p, dims, keepdim, std::nullopt); }
Tensor logsumexp(const Tensor& self, IntArrayRef dims, bool keepdim) { return logsumexp_op(self, dims, keepdim); }
Tensor any(const Tensor& self) { return any_op(self); }
Tensor any(const Tensor& self, std::int64_t dim, bool keepdim) { return any_dim_op(self, dim, keepdim); }
Tensor all(const Tensor& self) { return all_op(self); }
Tensor all(const Tensor& self, std::int64_t dim, bool keepdim) { return all_dim_op(self, dim, keepdim); }

Tensor Tensor::sum(OptionalType dtype) const { return sum_op(*this, dtype); }
Tensor Tensor::sum(IntArrayRef dims, bool keepdim, OptionalType dtype) const { return sum_dim_op(*this, dims, keepdim, dtype); }
Tensor Tensor::mean(OptionalType dtype) const { return mean_op(*this, dtype); }
Tensor Tensor::mean(IntArrayRef dims, bool keepdim, OptionalType dtype) const { return mean_dim_op(*this, dims, keepdim, dtype); }
Tensor Tensor::prod(OptionalType dtype) const { return prod_op(*this, dtype); }
Tensor Tensor::prod(std::int64_t dim, bool keepdim, OptionalType dtype) const { return prod_dim_op(*this, dim, keepdim, dtype); }
Tensor Tensor::var(OptionalDims dims, const Correction& correction, bool keepdim) const { return var_op(*this, dims, correction, keepdim); }
Tensor Tensor::std(OptionalDims dims, const Correction& correction, bool keepdim) const { return std_op(*this, dims, correction, keepdim); }
Tensor Tensor::norm(const Scalar& p, OptionalDims dims, bool keepdim) const { return norm_op(*this, p, dims, keepdim, std::nullopt); }
Tensor Tensor::any() const { return any_op(*this); }
Tensor Tensor::all() const { return all_op(*this); }

void register_reduction_ops(Library& library) {
  library.define<sum_op>().kernel<sum_kernel>().autograd<SumBackward0>();
  library.define<sum_dim_op>().kernel<sum_dim_kernel>().autograd<SumBackward1>();
  library.define<mean_op>().kernel<mean_kernel>().autograd<MeanBackward0>();
  library.define<mean_dim_op>().kernel<mean_dim_kernel>().autograd<MeanBackward1>();
  library.define<prod_op>().kernel<prod_kernel>().autograd<ProdBackward0>();
  library.define<prod_dim_op>().kernel<prod_dim_kernel>().autograd<ProdBackward1>();
  library.define<var_op>().kernel<variance_kernel<false>>().autograd<VarBackward0>();
  library.define<std_op>().kernel<variance_kernel<true>>().autograd<StdBackward0>();
  library.define<norm_op>().kernel<norm_kernel>().autograd<LinalgVectorNormBackward0>();
  library.define<logsumexp_op>().kernel<logsumexp_kernel>().autograd<LogsumexpBackward0>();
  library.define<any_op>().kernel<any_kernel>().not_differentiable();
  library.define<any_dim_op>().kernel<any_dim_kernel>().not_differentiable();
  library.define<all_op>().kernel<all_kernel>().not_differentiable();
  library.define<all_dim_op>().kernel<all_dim_kernel>().not_differentiable();
}

}  // namespace mindtorch

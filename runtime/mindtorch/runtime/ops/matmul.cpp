// Matrix products.
#include "mindtorch/runtime/ops/matmul.h"

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/matmul.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/pointwise.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;

constinit Op<Tensor(const Tensor&, const Tensor&)> mm_op{"aten::mm(Tensor self, Tensor mat2) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&)> bmm_op{"aten::bmm(Tensor self, Tensor mat2) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Tensor&, const Scalar&, const Scalar&)> addmm_op{
    "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Tensor&, const Scalar&, const Scalar&)> baddbmm_op{
    "aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&)> mv_op{"aten::mv(Tensor self, Tensor vec) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&)> dot_op{"aten::dot(Tensor self, Tensor tensor) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&)> matmul_op{"aten::matmul(Tensor self, Tensor other) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, const OptionalTensor&)> linear_op{
    "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"};

// ---- kernels ----

void check_product(const Tensor& a, const Tensor& b, std::int64_t dims, const char* op) {
  if (a.dim() != dims || b.dim() != dims) throw_error(op, "expected two {}D tensors, got {}D and {}D", dims, a.dim(), b.dim());
  if (a.dtype() != b.dtype())
    throw_error(op, "expected m1 and m2 to have the same dtype, but got: {} != {}", scalar_type_title(a.dtype()),
                scalar_type_title(b.dtype()));
  if (a.dtype() == kBool) throw_error(op, "not implemented for 'Bool'");
  common_device({&a, &b}, op);
  if (dims == 3 && a.size(0) != b.size(0))
    throw_error(op, "batch sizes must match, got {} and {}", to_string(a.sizes()), to_string(b.sizes()));
  if (a.size(-1) != b.size(-2))
    throw_error(op, "mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})", a.size(-2), a.size(-1), b.size(-2), b.size(-1));
}

// BLAS needs a unit stride in one of the two last dimensions, and no repeated rows.
Tensor blas_ready(const Tensor& m) {
  const std::int64_t rows = m.size(-2), columns = m.size(-1), row = m.stride(-2), column = m.stride(-1);
  const bool by_rows = (column == 1 || columns == 1) && (row >= columns || rows == 1);
  const bool by_columns = (row == 1 || rows == 1) && (column >= rows || columns == 1);
  return by_rows || by_columns ? m : m.contiguous();
}

cpu::Matrix matrix(const Tensor& m) { return {m.data_ptr(), m.size(-2), m.size(-1), m.stride(-2), m.stride(-1)}; }

Tensor mm_kernel(const Tensor& self, const Tensor& mat2) {
  check_product(self, mat2, 2, "aten::mm");
  const Tensor a = blas_ready(self), b = blas_ready(mat2);
  const Tensor out = new_tensor({self.size(0), mat2.size(1)}, self.dtype(), self.device());
  launch(self.device(), "gemm", cpu::gemm, self.dtype(), matrix(out), matrix(a), matrix(b), Scalar(1), Scalar(0));
  return out;
}

Tensor bmm_kernel(const Tensor& self, const Tensor& mat2) {
  check_product(self, mat2, 3, "aten::bmm");
  const Tensor a = blas_ready(self), b = blas_ready(mat2);
  const Tensor out = new_tensor({self.size(0), self.size(1), mat2.size(2)}, self.dtype(), self.device());
  launch(self.device(), "batched_gemm", cpu::batched_gemm, self.dtype(), self.size(0),
         cpu::BatchStrides{out.stride(0), a.stride(0), b.stride(0)}, matrix(out), matrix(a), matrix(b), Scalar(1), Scalar(0));
  return out;
}

// beta * self + alpha * product, where `product` has the shape of `out`.
void start_with(const Tensor& out, const Tensor& self, const Scalar& beta, const char* op) {
  common_device({&self, &out}, op);
  if (self.dtype() != out.dtype())
    throw_error(op, "self and mat2 must have the same dtype, but got {} and {}", scalar_type_title(self.dtype()),
                scalar_type_title(out.dtype()));
  const Tensor bias = self.expand(out.sizes());
  if (!beta.equals(0)) out.copy_(bias);
}

Tensor addmm_kernel(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  check_product(mat1, mat2, 2, "aten::addmm");
  const Tensor a = blas_ready(mat1), b = blas_ready(mat2);
  const Tensor out = new_tensor({mat1.size(0), mat2.size(1)}, mat1.dtype(), mat1.device());
  start_with(out, self, beta, "aten::addmm");
  launch(mat1.device(), "gemm", cpu::gemm, mat1.dtype(), matrix(out), matrix(a), matrix(b), alpha, beta);
  return out;
}

Tensor baddbmm_kernel(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  check_product(batch1, batch2, 3, "aten::baddbmm");
  const Tensor a = blas_ready(batch1), b = blas_ready(batch2);
  const Tensor out = new_tensor({batch1.size(0), batch1.size(1), batch2.size(2)}, batch1.dtype(), batch1.device());
  start_with(out, self, beta, "aten::baddbmm");
  launch(out.device(), "batched_gemm", cpu::batched_gemm, out.dtype(), out.size(0),
         cpu::BatchStrides{out.stride(0), a.stride(0), b.stride(0)}, matrix(out), matrix(a), matrix(b), alpha, beta);
  return out;
}

Tensor mv_kernel(const Tensor& self, const Tensor& vec) {
  if (self.dim() != 2 || vec.dim() != 1) throw_error("aten::mv", "expected a matrix and a vector, got {}D and {}D", self.dim(), vec.dim());
  const Tensor column = make_view(vec, {vec.size(0), 1}, {vec.stride(0), 1});
  check_product(self, column, 2, "aten::mv");
  const Tensor a = blas_ready(self), b = blas_ready(column);
  const Tensor out = new_tensor({self.size(0), 1}, self.dtype(), self.device());
  launch(self.device(), "gemv", cpu::gemm, self.dtype(), matrix(out), matrix(a), matrix(b), Scalar(1), Scalar(0));
  return make_dense_view(out, {self.size(0)});
}

Tensor dot_kernel(const Tensor& self, const Tensor& other) {
  if (self.dim() != 1 || other.dim() != 1)
    throw_error("aten::dot", "1D tensors expected, but got {}D and {}D tensors", self.dim(), other.dim());
  if (self.numel() != other.numel())
    throw_error("aten::dot", "inconsistent tensor size, expected tensor {} and src {} to have the same number of elements",
                to_string(self.sizes()), to_string(other.sizes()));
  const Tensor row = make_view(self, {1, self.size(0)}, {self.size(0), self.stride(0)});
  return make_dense_view(mv_kernel(row, other), {});
}

// [..., n, k] x [k, m] or [k]: one product of all rows.
Tensor folded_product(const Tensor& self, const Tensor& other) {
  DimVector sizes(self.sizes());
  sizes.erase(sizes.size() - 1);
  if (other.dim() == 2) sizes.push_back(other.size(1));
  const Tensor rows = self.reshape({-1, self.size(-1)});
  return unsafe_view(other.dim() == 2 ? mm(rows, other) : mv(rows, other), sizes);
}

// Both with batches, which are broadcast against each other.
Tensor batched_product(const Tensor& self, const Tensor& other) {
  const Tensor a = self.dim() == 1 ? self.unsqueeze(0) : self, b = other.dim() == 1 ? other.unsqueeze(1) : other;
  const auto batch = [](const Tensor& m) { return IntArrayRef(m.sizes().data(), m.sizes().size() - 2); };
  DimVector sizes = broadcast_shape(batch(a), batch(b), "aten::matmul");
  const std::int64_t count = checked_numel(sizes);
  const auto as_batch = [&](const Tensor& m) {
    DimVector expanded(sizes);
    expanded.push_back(m.size(-2));
    expanded.push_back(m.size(-1));
    return m.expand(expanded).reshape({count, m.size(-2), m.size(-1)});
  };
  const Tensor product = bmm(as_batch(a), as_batch(b));
  if (self.dim() > 1) sizes.push_back(a.size(-2));
  if (other.dim() > 1) sizes.push_back(b.size(-1));
  return unsafe_view(product, sizes);
}

Tensor matmul_composite(const Tensor& self, const Tensor& other) {
  const std::int64_t a = self.dim(), b = other.dim();
  if (a == 0 || b == 0) throw_error("aten::matmul", "both arguments to matmul need to be at least 1D, but they are {}D and {}D", a, b);
  if (a == 1 && b == 1) return dot(self, other);
  if (a == 2 && b == 1) return mv(self, other);
  if (a == 1 && b == 2) return mm(self.unsqueeze(0), other).squeeze(0);
  if (a == 2 && b == 2) return mm(self, other);
  if (b <= 2 && self.numel() != 0) return folded_product(self, other);
  return batched_product(self, other);
}

Tensor linear_composite(const Tensor& input, const Tensor& weight, const OptionalTensor& bias) {
  if (!bias || !bias->defined()) return matmul(input, weight.t());
  if (input.dim() == 2) return addmm(*bias, input, weight.t());
  if (input.dim() < 3 || !input.is_contiguous() || input.numel() == 0) return matmul(input, weight.t()) + *bias;
  DimVector sizes(input.sizes());
  sizes.back() = weight.size(0);
  return addmm(*bias, input.reshape({-1, input.size(-1)}), weight.t()).view(sizes);
}

Tensor scaled(const Tensor& grad, const Scalar& factor) { return factor.equals(1) ? grad : grad * factor; }

// ---- derivatives ----

struct MmBackward0 {
  static constexpr std::string_view kName = "MmBackward0";
  SavedVariable self, mat2;
  MmBackward0(InputNeeds needs, const Tensor& a, const Tensor& b) : self(needs[1] ? a : Tensor()), mat2(needs[0] ? b : Tensor()) {}
  auto saved() { return std::tie(self, mat2); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, mm(grad, grads.unpack(mat2).t()));
    if (grads.needs(1)) grads.set(1, mm(grads.unpack(self).t(), grad));
  }
};

struct BmmBackward0 {
  static constexpr std::string_view kName = "BmmBackward0";
  SavedVariable self, mat2;
  BmmBackward0(InputNeeds needs, const Tensor& a, const Tensor& b) : self(needs[1] ? a : Tensor()), mat2(needs[0] ? b : Tensor()) {}
  auto saved() { return std::tie(self, mat2); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, bmm(grad, grads.unpack(mat2).transpose(1, 2)));
    if (grads.needs(1)) grads.set(1, bmm(grads.unpack(self).transpose(1, 2), grad));
  }
};

struct AddmmBackward0 {
  static constexpr std::string_view kName = "AddmmBackward0";
  SavedVariable mat1, mat2;
  Scalar beta, alpha;
  AddmmBackward0(InputNeeds needs, const Tensor&, const Tensor& a, const Tensor& b, const Scalar& of_self, const Scalar& of_product)
      : mat1(needs[2] ? a : Tensor()), mat2(needs[1] ? b : Tensor()), beta(of_self), alpha(of_product) {}
  auto saved() { return std::tie(mat1, mat2); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, scaled(grad, beta));
    if (grads.needs(1)) grads.set(1, scaled(mm(grad, grads.unpack(mat2).t()), alpha));
    if (grads.needs(2)) grads.set(2, scaled(mm(grads.unpack(mat1).t(), grad), alpha));
  }
};

struct BaddbmmBackward0 {
  static constexpr std::string_view kName = "BaddbmmBackward0";
  SavedVariable batch1, batch2;
  Scalar beta, alpha;
  BaddbmmBackward0(InputNeeds needs, const Tensor&, const Tensor& a, const Tensor& b, const Scalar& of_self, const Scalar& of_product)
      : batch1(needs[2] ? a : Tensor()), batch2(needs[1] ? b : Tensor()), beta(of_self), alpha(of_product) {}
  auto saved() { return std::tie(batch1, batch2); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, scaled(grad, beta));
    if (grads.needs(1)) grads.set(1, scaled(bmm(grad, grads.unpack(batch2).transpose(1, 2)), alpha));
    if (grads.needs(2)) grads.set(2, scaled(bmm(grads.unpack(batch1).transpose(1, 2), grad), alpha));
  }
};

struct MvBackward0 {
  static constexpr std::string_view kName = "MvBackward0";
  SavedVariable self, vec;
  MvBackward0(InputNeeds needs, const Tensor& m, const Tensor& v) : self(needs[1] ? m : Tensor()), vec(needs[0] ? v : Tensor()) {}
  auto saved() { return std::tie(self, vec); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, grad.unsqueeze(1) * grads.unpack(vec).unsqueeze(0));
    if (grads.needs(1)) grads.set(1, mv(grads.unpack(self).t(), grad));
  }
};

struct DotBackward0 {
  static constexpr std::string_view kName = "DotBackward0";
  SavedVariable self, other;
  DotBackward0(InputNeeds needs, const Tensor& a, const Tensor& b) : self(needs[1] ? a : Tensor()), other(needs[0] ? b : Tensor()) {}
  auto saved() { return std::tie(self, other); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, grad * grads.unpack(other));
    if (grads.needs(1)) grads.set(1, grad * grads.unpack(self));
  }
};

}  // namespace

Tensor mm(const Tensor& self, const Tensor& mat2) { return mm_op(self, mat2); }
Tensor bmm(const Tensor& self, const Tensor& mat2) { return bmm_op(self, mat2); }
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  return addmm_op(self, mat1, mat2, beta, alpha);
}
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  return baddbmm_op(self, batch1, batch2, beta, alpha);
}
Tensor mv(const Tensor& self, const Tensor& vec) { return mv_op(self, vec); }
Tensor dot(const Tensor& self, const Tensor& other) { return dot_op(self, other); }
Tensor matmul(const Tensor& self, const Tensor& other) { return matmul_op(self, other); }
Tensor linear(const Tensor& input, const Tensor& weight, const OptionalTensor& bias) { return linear_op(input, weight, bias); }

Tensor Tensor::mm(const Tensor& mat2) const { return mm_op(*this, mat2); }
Tensor Tensor::bmm(const Tensor& mat2) const { return bmm_op(*this, mat2); }
Tensor Tensor::mv(const Tensor& vec) const { return mv_op(*this, vec); }
Tensor Tensor::dot(const Tensor& other) const { return dot_op(*this, other); }
Tensor Tensor::matmul(const Tensor& other) const { return matmul_op(*this, other); }

void register_matmul_ops(Library& library) {
  library.define<mm_op>().kernel<mm_kernel>().autograd<MmBackward0>();
  library.define<bmm_op>().kernel<bmm_kernel>().autograd<BmmBackward0>();
  library.define<addmm_op>().kernel<addmm_kernel>().autograd<AddmmBackward0>();
  library.define<baddbmm_op>().kernel<baddbmm_kernel>().autograd<BaddbmmBackward0>();
  library.define<mv_op>().kernel<mv_kernel>().autograd<MvBackward0>();
  library.define<dot_op>().kernel<dot_kernel>().autograd<DotBackward0>();
  library.define<matmul_op>().composite<matmul_composite>();
  library.define<linear_op>().composite<linear_composite>();
}

}  // namespace mindtorch

// Matrix products.
#include "mindtorch/runtime/ops/matmul.h"

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/matmul.h"
#include "mindtorch/runtime/launch.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;

constinit Op<Tensor(const Tensor&, const Tensor&)> mm_op{"aten::mm(Tensor self, Tensor mat2) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&)> bmm_op{"aten::bmm(Tensor self, Tensor mat2) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Tensor&, const Scalar&, const Scalar&)> addmm_op{
    "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor"};

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

Tensor addmm_kernel(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  check_product(mat1, mat2, 2, "aten::addmm");
  common_device({&self, &mat1}, "aten::addmm");
  if (self.dtype() != mat1.dtype())
    throw_error("aten::addmm", "self and mat2 must have the same dtype, but got {} and {}", scalar_type_title(self.dtype()),
                scalar_type_title(mat1.dtype()));
  const Tensor a = blas_ready(mat1), b = blas_ready(mat2);
  const Tensor out = new_tensor({mat1.size(0), mat2.size(1)}, mat1.dtype(), mat1.device());
  const Tensor bias = self.expand(out.sizes());
  if (!beta.equals(0)) out.copy_(bias);
  launch(mat1.device(), "gemm", cpu::gemm, mat1.dtype(), matrix(out), matrix(a), matrix(b), alpha, beta);
  return out;
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

}  // namespace

Tensor mm(const Tensor& self, const Tensor& mat2) { return mm_op(self, mat2); }
Tensor bmm(const Tensor& self, const Tensor& mat2) { return bmm_op(self, mat2); }
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  return addmm_op(self, mat1, mat2, beta, alpha);
}
Tensor Tensor::mm(const Tensor& mat2) const { return mm_op(*this, mat2); }
Tensor Tensor::bmm(const Tensor& mat2) const { return bmm_op(*this, mat2); }

void register_matmul_ops(Library& library) {
  library.define<mm_op>().kernel<mm_kernel>().autograd<MmBackward0>();
  library.define<bmm_op>().kernel<bmm_kernel>().autograd<BmmBackward0>();
  library.define<addmm_op>().kernel<addmm_kernel>().autograd<AddmmBackward0>();
}

}  // namespace mindtorch

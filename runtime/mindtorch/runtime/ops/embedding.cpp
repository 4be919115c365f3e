// Table look-up.
#include "mindtorch/runtime/ops/embedding.h"

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/embedding.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/pointwise.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;

constinit Op<Tensor(const Tensor&, const Tensor&, std::int64_t, bool, bool)> embedding_op{
    "aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, std::int64_t, std::int64_t, bool, bool)> embedding_backward_op{
    "aten::embedding_backward(Tensor grad, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq, bool sparse) "
    "-> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, std::int64_t, std::int64_t, bool)> embedding_dense_backward_op{
    "aten::embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq) "
    "-> Tensor"};

// ---- kernels ----

void check_indices(const Tensor& indices, const char* op) {
  if (indices.dtype() != kInt64 && indices.dtype() != kInt32)
    throw_error(op,
                "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got {} instead (while "
                "checking arguments for embedding)",
                scalar_type_title(indices.dtype()));
}

Tensor embedding_kernel(const Tensor& weight, const Tensor& indices, std::int64_t, bool, bool) {
  if (weight.dim() != 2) throw_error("aten::embedding", "'weight' must be 2-D, got sizes {}", to_string(weight.sizes()));
  check_indices(indices, "aten::embedding");
  const Device device = common_device({&weight, &indices}, "aten::embedding");
  const Tensor table = weight.contiguous(), rows = indices.to(device).contiguous();
  DimVector sizes(indices.sizes());
  sizes.push_back(weight.size(1));
  const Tensor out = new_tensor(sizes, weight.dtype(), device);
  const cpu::EmbeddingShape shape{weight.dtype(), indices.dtype(), weight.size(0), weight.size(1), indices.numel()};
  launch(device, "embedding", cpu::embedding, shape, out.data_ptr(), table.data_ptr(), rows.data_ptr());
  return out;
}

Tensor embedding_backward_composite(const Tensor& grad, const Tensor& indices, std::int64_t num_weights, std::int64_t padding_idx,
                                    bool scale_grad_by_freq, bool sparse) {
  if (sparse) throw_error("aten::embedding_backward", "sparse gradients are not supported; use sparse=False");
  return embedding_dense_backward_op(grad, indices, num_weights, padding_idx, scale_grad_by_freq);
}

Tensor embedding_dense_backward_kernel(const Tensor& grad, const Tensor& indices, std::int64_t num_weights, std::int64_t padding_idx,
                                       bool scale_grad_by_freq) {
  check_indices(indices, "aten::embedding_dense_backward");
  const Device device = grad.device();
  const Tensor dense = grad.contiguous(), rows = indices.to(device).contiguous();
  const std::int64_t width = grad.size(-1);
  const Tensor table = zeros({num_weights, width}, grad.options());
  const cpu::EmbeddingShape shape{grad.dtype(), indices.dtype(), num_weights, width, indices.numel()};
  launch(device, "embedding_backward", cpu::embedding_backward, shape, table.data_ptr(), dense.data_ptr(), rows.data_ptr(), padding_idx,
         scale_grad_by_freq);
  return table;
}

// ---- derivatives ----

struct EmbeddingBackward0 {
  static constexpr std::string_view kName = "EmbeddingBackward0";
  SavedVariable indices;
  std::int64_t rows, padding_idx;
  bool by_frequency, sparse;
  EmbeddingBackward0(InputNeeds, const Tensor& weight, const Tensor& index, std::int64_t padding, bool frequency, bool is_sparse)
      : indices(index), rows(weight.size(0)), padding_idx(padding), by_frequency(frequency), sparse(is_sparse) {}
  auto saved() { return std::tie(indices); }
  void operator()(Gradients& grads, const Tensor& grad) {
    grads.set(0, embedding_backward_op(grad, grads.unpack(indices), rows, padding_idx, by_frequency, sparse));
  }
};

// A sum of rows is differentiated by looking the rows up again.
struct EmbeddingDenseBackwardBackward0 {
  static constexpr std::string_view kName = "EmbeddingDenseBackwardBackward0";
  SavedVariable indices;
  std::int64_t padding_idx;
  bool by_frequency;
  EmbeddingDenseBackwardBackward0(InputNeeds, const Tensor&, const Tensor& index, std::int64_t, std::int64_t padding, bool frequency)
      : indices(index), padding_idx(padding), by_frequency(frequency) {}
  auto saved() { return std::tie(indices); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (by_frequency) throw_error("aten::embedding", "double backward for embedding with scale_grad_by_freq is not supported");
    const Tensor index = grads.unpack(indices);
    const Tensor rows = embedding(grad, index);
    grads.set(0, padding_idx < 0 ? rows : rows * index.unsqueeze(-1).ne(padding_idx));
  }
};

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices, std::int64_t padding_idx, bool scale_grad_by_freq) {
  return embedding_op(weight, indices, padding_idx, scale_grad_by_freq, false);
}

void register_embedding_ops(Library& library) {
  library.define<embedding_op>().kernel<embedding_kernel>().autograd<EmbeddingBackward0>();
  library.define<embedding_backward_op>().composite<embedding_backward_composite>();
  library.define<embedding_dense_backward_op>().kernel<embedding_dense_backward_kernel>().autograd<EmbeddingDenseBackwardBackward0>();
}

}  // namespace mindtorch

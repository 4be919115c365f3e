// CopySlices.
#include "mindtorch/runtime/autograd/copy_slices.h"

#include "mindtorch/runtime/autograd/variable.h"
#include "mindtorch/runtime/functions.h"

namespace mindtorch::autograd {

CopySlices::CopySlices(const Tensor& base, const Tensor& view, NodePtr function)
    : base_sizes_(base.sizes()),
      base_strides_(base.strides()),
      view_sizes_(view.sizes()),
      view_strides_(view.strides()),
      view_offset_(view.storage_offset() - base.storage_offset()),
      function_(std::move(function)) {
  add_next_edge(gradient_edge(base));
  for (std::size_t i = 1; i < function_->num_outputs(); ++i) add_next_edge(function_->next_edge(i));
  add_input_metadata(base);
}

const NodeName& CopySlices::node_name() const {
  static const NodeName name("torch::autograd::CopySlices");
  return name;
}

TensorVector CopySlices::apply(TensorVector&& inputs) {
  std::lock_guard lock(mutex());
  TensorVector grads(num_outputs());
  const Tensor& grad = inputs[0];
  if (!grad.defined()) return grads;
  Tensor whole = empty_strided(base_sizes_, base_strides_, grad.options());
  whole.copy_(grad);
  Tensor part = whole.as_strided(view_sizes_, view_strides_, view_offset_);
  TensorVector of_function = (*function_)({part.clone()});
  if (of_function[0].defined())
    part.copy_(of_function[0].expand(view_sizes_));
  else
    part.zero_();
  grads[0] = std::move(whole);
  for (std::size_t i = 1; i < of_function.size(); ++i) grads[i] = std::move(of_function[i]);
  return grads;
}

}  // namespace mindtorch::autograd

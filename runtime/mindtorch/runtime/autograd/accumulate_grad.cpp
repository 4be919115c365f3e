// AccumulateGrad.
#include "mindtorch/runtime/autograd/accumulate_grad.h"

#include <limits>

#include "mindtorch/record/hooks.h"
#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/autograd/variable.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"

namespace mindtorch::autograd {

namespace {

// True if nothing else refers to this gradient's memory, so that the leaf can take it without a copy.
bool is_ours_alone(const Tensor& grad) {
  return grad.use_count() == 1 && grad.storage()->use_count() == 1 && !grad.is_view() && is_dense(grad.sizes(), grad.strides());
}

void accumulate(AutogradMeta& meta, Tensor&& grad) {
  const bool keeps_graph = GradMode::is_enabled();
  if (!meta.grad.defined()) {
    if (keeps_graph)
      meta.grad = grad.clone();
    else
      meta.grad = is_ours_alone(grad) ? grad.detach() : grad.detach().clone();
    record::record_memory_category(meta.grad.storage()->data(), trace::MemoryCategory::kGradient);
  } else if (keeps_graph) {
    meta.grad = meta.grad + grad;
  } else {
    meta.grad.add_(grad);
  }
}

}  // namespace

// It has the highest sequence number, so that gradients are accumulated as soon as they arrive.
AccumulateGrad::AccumulateGrad(Tensor variable) : Node(std::numeric_limits<std::uint64_t>::max()), variable_(std::move(variable)) {
  add_input_metadata(variable_);
}

AccumulateGrad::~AccumulateGrad() {
  AutogradMeta& meta = variable_.impl()->ensure_autograd_meta();
  std::lock_guard lock(meta.mutex);
  if (meta.accumulator == this) meta.accumulator = nullptr;
}

const NodeName& AccumulateGrad::node_name() const {
  static const NodeName name("torch::autograd::AccumulateGrad");
  return name;
}

std::vector<Node::TensorHook>& AccumulateGrad::tensor_hooks() { return variable_.impl()->ensure_autograd_meta().leaf_hooks; }

TensorVector AccumulateGrad::apply(TensorVector&& inputs) {
  Tensor grad = std::move(inputs[0]);
  inputs.clear();
  AutogradMeta& meta = variable_.impl()->ensure_autograd_meta();
  std::lock_guard lock(mutex());
  if (grad.defined() && variable_.requires_grad()) accumulate(meta, std::move(grad));
  return {};
}

}  // namespace mindtorch::autograd

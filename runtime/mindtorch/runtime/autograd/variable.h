// The data that autograd keeps for a tensor, and how results of ops are connected to the graph.
#pragma once

#include <memory>
#include <mutex>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/autograd/node.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch::autograd {

// Only tensors that require a gradient, or did so before, have it.
struct AutogradMeta {
  NodePtr grad_fn;                        // null for leaves
  std::uint32_t output_nr = 0;            // which output of grad_fn the tensor is
  bool requires_grad = false;             // leaves; non-leaves require a gradient because they have a grad_fn
  Tensor grad;                            // leaves
  std::shared_ptr<Tensor> retained_grad;  // non-leaves, after retain_grad(); shared with grad_fn, which must not own the tensor
  std::vector<Node::TensorHook> leaf_hooks;
  // The leaf's AccumulateGrad. It owns the leaf, so this is a weak reference. Guarded by `mutex`.
  std::mutex mutex;
  Node* accumulator = nullptr;
};

// True if the result of an op with this input needs a graph (grad mode aside).
MINDTORCH_EXPORT bool requires_grad(const Tensor& tensor);

// The node that made the tensor, updated first if the tensor is a view whose base was changed in place. Null for leaves.
MINDTORCH_EXPORT NodePtr grad_fn(const Tensor& tensor);

// The destination of the tensor's gradients: its grad_fn, the AccumulateGrad of a leaf, or an invalid edge.
MINDTORCH_EXPORT Edge gradient_edge(const Tensor& tensor);

// Makes `output` the next output of `node`.
MINDTORCH_EXPORT void set_history(const Tensor& output, const NodePtr& node);

// The same after an in-place op on `self`. If `self` is a view, its base gets a history in which the gradient of the changed part goes
// through `node`.
MINDTORCH_EXPORT void rebase_history(const Tensor& self, const NodePtr& node);

// Called before `op` writes to `self`. Throws torch's errors if the write would break autograd (a leaf that requires a gradient, a view of
// one), then increases the version.
MINDTORCH_EXPORT void announce_write(const Tensor& self, std::string_view op);

// Throws if `self` is a view that cannot take part in a differentiable in-place op.
MINDTORCH_EXPORT void check_differentiable_write(const Tensor& self, std::string_view op);

}  // namespace mindtorch::autograd

// What autograd knows of a tensor, and how results of ops are tied into the graph.
#pragma once

#include <memory>
#include <mutex>

#include "mindtorch/runtime/autograd/node.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch::autograd {

// Exists only for tensors that require a gradient or once did.
struct AutogradMeta {
  NodePtr grad_fn;                        // null for leaves
  std::uint32_t output_nr = 0;            // which output of grad_fn the tensor is
  bool requires_grad = false;             // leaves; non-leaves require a gradient because they have a grad_fn
  Tensor grad;                            // leaves
  std::shared_ptr<Tensor> retained_grad;  // non-leaves, after retain_grad(); shared with grad_fn, which must not own the tensor
  std::vector<Node::TensorHook> leaf_hooks;
  // The leaf's AccumulateGrad, which owns the leaf; so this is a weak reference. Guarded by `mutex`.
  std::mutex mutex;
  Node* accumulator = nullptr;
};

// True if the result of an op with this input needs a graph (grad mode aside).
bool requires_grad(const Tensor& tensor);

// The node that made the tensor, brought up to date if it is a view whose base was changed in place. Null for leaves.
NodePtr grad_fn(const Tensor& tensor);

// Where gradients of the tensor go: its grad_fn, a leaf's AccumulateGrad, or nowhere.
Edge gradient_edge(const Tensor& tensor);

// Makes `output` the next output of `node`.
void set_history(const Tensor& output, const NodePtr& node);

// The same after an in-place op on `self`: if it is a view, its base gets a history that routes the gradient of the changed part through
// `node`.
void rebase_history(const Tensor& self, const NodePtr& node);

// Before a write to `self` by `op`: throws torch's errors if it would break autograd (a leaf that requires a gradient, a view of one), then
// counts the write.
void announce_write(const Tensor& self, std::string_view op);

// Throws if `self` is a view that cannot take part in a differentiable in-place op.
void check_differentiable_write(const Tensor& self, std::string_view op);

}  // namespace mindtorch::autograd

// CopySlices: the history of a tensor that was partly changed in place through a view. The gradient of the changed part goes through the
// node of the op; the rest of the gradient is passed on unchanged.
#pragma once

#include "mindtorch/runtime/autograd/node.h"

namespace mindtorch::autograd {

class CopySlices final : public Node {
 public:
  // `function` is the node of the op that wrote to `view`; `view` is a view of `base`.
  CopySlices(const Tensor& base, const Tensor& view, NodePtr function);
  const NodeName& node_name() const override;
  void release_variables() override { function_->release_variables(); }

 protected:
  TensorVector apply(TensorVector&& inputs) override;

 private:
  DimVector base_sizes_, base_strides_, view_sizes_, view_strides_;
  std::int64_t view_offset_;  // in elements, from the first of the base
  NodePtr function_;
};

}  // namespace mindtorch::autograd

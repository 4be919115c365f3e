// AccumulateGrad: the last node of a path through the graph. It adds its input to the gradient of a leaf.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/autograd/node.h"

namespace mindtorch::autograd {

class MINDTORCH_EXPORT AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor variable);
  ~AccumulateGrad() override;
  const NodeName& node_name() const override;
  const Tensor& variable() const { return variable_; }
  // The leaf owns them, because this node lives only as long as the graphs that use it.
  std::vector<TensorHook>& tensor_hooks() override;

 protected:
  TensorVector apply(TensorVector&& inputs) override;

 private:
  Tensor variable_;
};

}  // namespace mindtorch::autograd

// SavedVariable: a tensor that is kept for the backward pass, with the version that it had.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/autograd/node.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch::autograd {

class MINDTORCH_EXPORT SavedVariable {
 public:
  SavedVariable() = default;
  // `is_output`: the tensor is an output of the node that saves it. The tensor then owns the node, so the node must not own the tensor.
  explicit SavedVariable(const Tensor& tensor, bool is_output = false);

  // The saved tensor, or an undefined one. Throws torch's errors if it was freed (a second backward without retain_graph) or changed in
  // place since. `owner` is the node that saved it.
  Tensor unpack(Node* owner) const;
  void release();

 private:
  Tensor tensor_;  // an output: an alias without history
  std::uint32_t version_ = 0;
  std::uint32_t output_nr_ = 0;
  bool is_output_ = false;
  bool released_ = false;
};

}  // namespace mindtorch::autograd

// SavedVariable: a tensor kept for the backward pass, with the version it had.
#pragma once

#include "mindtorch/runtime/autograd/node.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch::autograd {

class SavedVariable {
 public:
  SavedVariable() = default;
  // `is_output`: the tensor is an output of the node that saves it. The node then must not own the tensor, which owns the node.
  explicit SavedVariable(const Tensor& tensor, bool is_output = false);

  // The tensor as it was saved; undefined if nothing was. Throws torch's errors if it has been freed (a second backward without
  // retain_graph) or changed in place since. `owner` is the node that saved it.
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

// Tensor?[]: an argument of ops that index.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// A list in which an undefined tensor stands for None. As a parameter it lives as long as the call.
class OptionalTensorList : public TensorList {
 public:
  using TensorList::TensorList;
};

}  // namespace mindtorch

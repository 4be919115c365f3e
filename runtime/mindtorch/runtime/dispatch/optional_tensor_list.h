// Tensor?[]: an argument of ops that index.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// A list in which an undefined tensor stands for None. A braced list lives as long as the call that it is an argument of.
class OptionalTensorList : public TensorList {
 public:
  using TensorList::TensorList;
};

}  // namespace mindtorch

// torch's rules for the type of a result: tensors with dimensions count most, then zero-dimensional tensors, then numbers; a lower class
// matters only if it is of a higher kind (bool < integer < floating point).
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// An input of a pointwise op: a tensor, or a number.
struct Operand {
  Operand(const Tensor& t) : tensor(&t) {}
  Operand(const Scalar& s) : scalar(s) {}
  // True for an input that is not converted to the type of the computation, such as a mask or an index.
  static Operand as_is(const Tensor& t) {
    Operand operand(t);
    operand.is_converted = false;
    return operand;
  }
  const Tensor* tensor = nullptr;
  Scalar scalar;
  bool is_converted = true;
};

class ResultType {
 public:
  ResultType& add(const Operand& operand);
  ScalarType get() const;

 private:
  std::optional<ScalarType> dims_, zero_dims_, numbers_;
};

ScalarType result_type(const Tensor& a, const Tensor& b);
ScalarType result_type(const Tensor& a, const Scalar& b);
ScalarType result_type(TensorList tensors);

// The type of a sum or a product. Integers and bools are summed as int64.
ScalarType sum_type(ScalarType type, std::optional<ScalarType> asked);
// `type` if it is floating point, else the default type. It is the type of the result of sqrt, mean and true division.
ScalarType floating_type(ScalarType type);

}  // namespace mindtorch

// Type promotion.
#include "mindtorch/runtime/type_promotion.h"

namespace mindtorch {

namespace {

int kind_of(ScalarType type) { return type == kBool ? 0 : is_floating_point(type) ? 2 : 1; }

std::optional<ScalarType> promoted(std::optional<ScalarType> a, ScalarType b) { return a ? promote_types(*a, b) : b; }

// `high` unless the less important operands are of a higher kind.
std::optional<ScalarType> combined(std::optional<ScalarType> high, std::optional<ScalarType> low) {
  if (!high || !low) return high ? high : low;
  return kind_of(*low) > kind_of(*high) ? promote_types(*high, *low) : *high;
}

}  // namespace

ResultType& ResultType::add(const Operand& operand) {
  ScalarType type;
  bool is_number = operand.tensor == nullptr;
  if (is_number) {
    type = operand.scalar.type();
  } else {
    type = operand.tensor->dtype();
    is_number = operand.tensor->impl()->is_wrapped_number();
  }
  if (is_number) {
    numbers_ = promoted(numbers_, is_floating_point(type) ? get_default_dtype() : type);
  } else if (operand.tensor->dim() == 0) {
    zero_dims_ = promoted(zero_dims_, type);
  } else {
    dims_ = promoted(dims_, type);
  }
  return *this;
}

ScalarType ResultType::get() const { return combined(dims_, combined(zero_dims_, numbers_)).value_or(get_default_dtype()); }

ScalarType result_type(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return a.dtype();
  return ResultType().add(a).add(b).get();
}

ScalarType result_type(const Tensor& a, const Scalar& b) {
  if (is_floating_point(a.dtype())) return a.dtype();
  return ResultType().add(a).add(b).get();
}

ScalarType result_type(TensorList tensors) {
  ResultType type;
  for (const Tensor& tensor : tensors) type.add(tensor);
  return type.get();
}

ScalarType sum_type(ScalarType type, std::optional<ScalarType> asked) { return asked ? *asked : is_floating_point(type) ? type : kInt64; }

ScalarType floating_type(ScalarType type) { return is_floating_point(type) ? type : get_default_dtype(); }

}  // namespace mindtorch

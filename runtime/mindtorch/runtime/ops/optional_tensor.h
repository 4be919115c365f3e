// Optional tensor arguments: an op sees std::optional<Tensor>, C++ functions and formulas use an undefined tensor for the same thing.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

inline OptionalTensor defined_or_none(const Tensor& tensor) { return tensor.defined() ? OptionalTensor(tensor) : std::nullopt; }
inline Tensor value_or_undefined(const OptionalTensor& tensor) { return tensor ? *tensor : Tensor(); }
inline bool is_defined(const OptionalTensor& tensor) { return tensor && tensor->defined(); }
inline Tensor contiguous_or_undefined(const OptionalTensor& tensor) { return is_defined(tensor) ? tensor->contiguous() : Tensor(); }

// The address that a kernel receives for an optional argument.
inline void* data_or_null(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }

}  // namespace mindtorch

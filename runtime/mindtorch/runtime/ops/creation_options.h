// The options that all ops that make tensors have: type, layout, device and pinned memory, in the order in which they are recorded.
#pragma once

#include "mindtorch/runtime/dispatch/value.h"
#include "mindtorch/runtime/tensor.h"

#define MINDTORCH_OPTION_TYPES std::optional<ScalarType>, std::optional<Layout>, std::optional<Device>, std::optional<bool>
#define MINDTORCH_OPTION_SCHEMA "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

namespace mindtorch {

using DtypeOption = std::optional<ScalarType>;
using LayoutOption = std::optional<Layout>;
using DeviceOption = std::optional<Device>;
using PinOption = std::optional<bool>;
using FormatOption = std::optional<MemoryFormat>;

inline constexpr LayoutOption kStrided = std::nullopt;

inline Tensor with_grad(Tensor tensor, const TensorOptions& options) {
  if (options.requires_grad) tensor.requires_grad_();
  return tensor;
}

}  // namespace mindtorch

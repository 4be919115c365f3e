// TensorOptions: type, device and requires_grad of a tensor about to be made.
#pragma once

#include <optional>

#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/scalar_type.h"

namespace mindtorch {

// ones({2, 3}, {.dtype = kInt64, .device = "npu"}), or ones({2}, dtype(kInt64).requires_grad(true)) in torch's style.
struct TensorOptions {
  std::optional<ScalarType> dtype;
  std::optional<Device> device;
  bool requires_grad = false;
};

}  // namespace mindtorch

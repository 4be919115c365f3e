// TensorOptions: the type, the device and requires_grad of a new tensor.
#pragma once

#include <optional>

#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/scalar_type.h"

namespace mindtorch {

// Used with designated initialisers: ones({2, 3}, {.dtype = kInt64, .device = "npu"}).
struct TensorOptions {
  std::optional<ScalarType> dtype;  // unset: the function's default, float32 for most
  std::optional<Device> device;     // unset: the CPU
  bool requires_grad = false;
};

}  // namespace mindtorch

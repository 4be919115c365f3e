// NPUs provided by the reference device.
#pragma once

#include "mindtorch/runtime/kernels/npu/provider.h"

namespace mindtorch::npu {

Provider& reference_provider();

}  // namespace mindtorch::npu

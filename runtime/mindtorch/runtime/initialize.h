// Initialises the runtime: registers devices, ops and the host.
#pragma once

#include "mindtorch/base/export.h"

namespace mindtorch {

// Registers the CPU, the NPU, all ops, and the host of the recorder. The first op of the process calls it. Any thread may call it any
// number of times.
MINDTORCH_EXPORT void initialize_runtime();

}  // namespace mindtorch

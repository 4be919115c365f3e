// Asks the tracer of torch.jit.
#include "mindtorch/bridges/torch/tracing.h"

#include <torch/csrc/jit/frontend/tracer.h>

namespace mindtorch::torch_bridge {

bool is_tracing() noexcept { return torch::jit::tracer::isTracing(); }

}  // namespace mindtorch::torch_bridge

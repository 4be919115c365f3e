// Whether torch.jit is tracing: a scope that is entered meanwhile becomes a part of the traced graph.
#pragma once

namespace mindtorch::torch_bridge {

// Of the calling thread. Reads a thread-local variable of torch.
bool is_tracing() noexcept;

}  // namespace mindtorch::torch_bridge

// Keeps the addresses of tensors from being given to other tensors while a session records which tensors ops took.
#pragma once

#include <c10/core/TensorImpl.h>

namespace mindtorch::torch_bridge {

// Holds a weak reference to the tensor until release_addresses(), or until 32,768 other tensors were kept: its data is freed as ever, only
// its object keeps its place. Called by any thread.
void keep_address(c10::TensorImpl& tensor) noexcept;

// Called when a session has ended. An op that runs meanwhile may still keep a tensor, which the next call releases.
void release_addresses() noexcept;

}  // namespace mindtorch::torch_bridge

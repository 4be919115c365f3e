// Allocations and frees of torch's CPU memory, by all threads.
#pragma once

namespace mindtorch::torch_bridge {

// Installs an allocator that reports allocations and frees to the recorder and calls torch's own allocator for the memory. Returns null, or
// the reason of a failure (a static string).
const char* watch_cpu_memory() noexcept;

// Restores torch's own allocator. Memory that was allocated meanwhile is returned to it when it is freed.
void unwatch_cpu_memory() noexcept;

}  // namespace mindtorch::torch_bridge

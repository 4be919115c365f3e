// Allocations and frees of torch's CPU memory, by all threads.
#pragma once

namespace mindtorch::torch_bridge {

// Puts an allocator in front of torch's own that reports what goes through it to the recorder. Memory comes from and goes back to torch's
// own allocator as before. Null, or why it is not possible (a text that lives as long as the process).
const char* watch_cpu_memory() noexcept;

// Puts torch's own back. Memory handed out meanwhile goes back to it whenever it is freed.
void unwatch_cpu_memory() noexcept;

}  // namespace mindtorch::torch_bridge

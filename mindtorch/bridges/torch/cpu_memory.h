// Allocations and frees of torch's CPU memory: by all threads if they pass torch's current allocator.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mindtorch::torch_bridge {

// Installs an allocator that reports allocations and frees to the recorder and calls torch's own allocator for the memory. Returns null, or
// the reason of a failure (a static string).
const char* watch_cpu_memory() noexcept;

// Restores torch's own allocator. Memory that was allocated meanwhile is returned to it when it is freed.
void unwatch_cpu_memory() noexcept;

// True while the installed allocator calls torch's own on this thread: what torch reports meanwhile is known already.
bool is_watched_allocator_at_work() noexcept;

// For CPU memory that does not pass the installed allocator, in the form of torch's reports: a free has negative `bytes`, and `allocated`
// is what torch's own allocator counts afterwards.
void report_cpu_memory(void* address, std::int64_t bytes, std::size_t allocated) noexcept;

}  // namespace mindtorch::torch_bridge

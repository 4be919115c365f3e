// The CPU as a device: memory comes from the operating system, and work is done at once on the calling thread.
#pragma once

#include "mindtorch/runtime/caching_allocator.h"

namespace mindtorch {

// The allocator of host tensors. It is never destroyed.
CachingAllocator& cpu_allocator();

// Registers the CPU as a device. Called by initialize_runtime().
void register_cpu_backend();

}  // namespace mindtorch

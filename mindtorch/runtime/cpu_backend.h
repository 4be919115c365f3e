// The CPU as a device: memory from the operating system, work done at once on the calling thread.
#pragma once

#include "mindtorch/runtime/caching_allocator.h"

namespace mindtorch {

// The allocator of host tensors. Lives for ever.
CachingAllocator& cpu_allocator();

// Makes the CPU known as a device; part of initialize_runtime().
void register_cpu_backend();

}  // namespace mindtorch

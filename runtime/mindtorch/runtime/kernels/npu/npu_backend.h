// The NPU as a device of the runtime: allocators and current streams on top of a provider.
#pragma once

#include "mindtorch/runtime/kernels/npu/provider.h"

namespace mindtorch::npu {

// Registers NPUs with the runtime. initialize_runtime() calls it; further calls have no effect.
void register_npu_backend();

// The provider of `device`. Throws if there is no provider or the device does not exist.
Provider& provider_of(Device device);
CachingAllocator& allocator_of(Device device);

// The next stream of the device's pool of 32, in turn. These streams are never destroyed.
StreamHandle next_stream_of_pool(Device device);

// The stream that receives this thread's work on the device: the default stream unless another was set.
StreamHandle current_stream_handle(Device device);
void set_current_stream_handle(Device device, StreamHandle stream);
// Makes later work of `stream` wait for the work that was queued on `other` before this call.
void make_wait(StreamHandle stream, StreamHandle other);
// Makes the current stream wait for all work that was queued on the device before this call.
void join_streams(Device device);

}  // namespace mindtorch::npu

// The NPU as a device of the runtime: allocators and current streams on top of a provider.
#pragma once

#include "mindtorch/runtime/kernels/npu/provider.h"

namespace mindtorch::npu {

// Makes NPUs known to the runtime; part of initialize_runtime(), any number of times.
void register_npu_backend();

// The provider, for calls about `device`. Throws if there is none or the device does not exist.
Provider& provider_of(Device device);
CachingAllocator& allocator_of(Device device);

// A stream of the device's pool of 32, each in turn. They live for ever.
StreamHandle next_stream_of_pool(Device device);

// The stream that this thread's work on the device goes to: the default stream unless set.
StreamHandle current_stream_handle(Device device);
void set_current_stream_handle(Device device, StreamHandle stream);
// From here on the work of `stream` runs after what `other` has been given so far.
void make_wait(StreamHandle stream, StreamHandle other);
// The current stream goes on only after all that the device has been given so far.
void join_streams(Device device);

}  // namespace mindtorch::npu

// Allocations and frees of torch's memory on devices.
#pragma once

namespace mindtorch::torch_bridge {

// From now on torch's device allocators, whichever they are, report to the recorder what this thread and the autograd threads that work for
// it do, while a session wants memory. Does nothing if torch.profiler is at work on this thread: the reports are its own then.
void watch_device_memory() noexcept;
// Call it on the thread that called watch_device_memory(). On other threads the reports end with the session.
void unwatch_device_memory() noexcept;

}  // namespace mindtorch::torch_bridge

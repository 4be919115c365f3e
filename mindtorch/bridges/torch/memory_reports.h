// Memory that torch reports by itself: that of devices, that which other processes share with this one, and what a kernel takes from
// torch's default CPU allocator directly.
#pragma once

namespace mindtorch::torch_bridge {

// From now on torch's reports about what this thread and the autograd threads that work for it do reach the recorder, while a session wants
// memory. Does nothing if torch.profiler is at work on this thread: the reports are its own then.
void watch_memory_reports() noexcept;
// Call it on the thread that called watch_memory_reports(). On other threads the reports end with the session.
void unwatch_memory_reports() noexcept;

}  // namespace mindtorch::torch_bridge

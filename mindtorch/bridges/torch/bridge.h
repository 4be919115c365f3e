// The PyTorch bridge: sessions of the recorder record the reports of at::RecordFunction and of torch's CPU allocator.
//
//   mindtorch::torch_bridge::activate();          // once, anywhere before the first profile starts
//   mindtorch::profiler::Profile p({.record_shapes = true});
//
// While nothing records, the bridge has no callback and no allocator in torch.
#pragma once

namespace mindtorch::torch_bridge {

// Registers torch as a host of the recorder ("torch"). Returns null, or the reason of a failure (a static string). Calls after the first do
// nothing. Any thread may call it.
const char* activate() noexcept;

// The release of torch the bridge was compiled for ("2.13.0"); it must not be used with another one.
const char* torch_version() noexcept;

}  // namespace mindtorch::torch_bridge

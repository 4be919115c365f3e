// The PyTorch bridge: lets sessions of the recorder record what at::RecordFunction and torch's CPU allocator report.
//
//   mindtorch::torch_bridge::activate();          // once, anywhere before the first profile starts
//   mindtorch::profiler::Profile p({.record_shapes = true});
//
// While nothing records there is no callback, no allocator and no other trace of the bridge in torch.
#pragma once

namespace mindtorch::torch_bridge {

// Makes torch a host of the recorder ("torch"). Null, or why it was refused (a text that lives as long as the process). Calls after the
// first do nothing. Any thread.
const char* activate() noexcept;

// The release of torch the bridge was compiled for ("2.13.0"); it must not be used with another one.
const char* torch_version() noexcept;

}  // namespace mindtorch::torch_bridge

// The texts of results.
#include "mindtorch/reference_device/result.h"

namespace mindtorch::reference_device {

std::string_view describe(Result result) noexcept {
  switch (result) {
    case Result::kSuccess: return "success";
    case Result::kInvalidArgument: return "invalid argument";
    case Result::kInvalidAddress: return "the address range is not inside a live allocation of the device";
    case Result::kOutOfMemory: return "the device is out of memory";
    case Result::kNotReady: return "not finished yet";
    case Result::kPoweredOff: return "there is no reference device: set MINDTORCH_NPU=reference";
    case Result::kKernelFailed: return "work on the stream failed";
    case Result::kNotPermitted: return "the call is not permitted here or now";
    case Result::kAlreadySubscribed: return "another profiler is subscribed to the device's activity";
    case Result::kForked: return "the device cannot be used in a forked process: start new processes with spawn";
    case Result::kNotSubscribed: return "no profiler is subscribed to the device's activity";
  }
  return "unknown result";
}

}  // namespace mindtorch::reference_device

// The result of a call of the reference device. As in a vendor's C library, calls never throw: every call returns a Result.
#pragma once

#include <string_view>

#include "mindtorch/base/export.h"

namespace mindtorch::reference_device {

enum class [[nodiscard]] Result : int{
    kSuccess = 0,
    kInvalidArgument = 1,    // null handle, unknown device, impossible size
    kInvalidAddress = 2,     // not inside a live allocation of the device
    kOutOfMemory = 3,        // the device's memory is used up, or too fragmented
    kNotReady = 4,           // an event that has not been reached yet
    kPoweredOff = 5,         // there is no device: power_on() was not called, or power_off() was
    kKernelFailed = 6,       // work on the stream failed; sticky until clear_error()
    kNotPermitted = 7,       // the call may not be made from here (a kernel, a buffer callback) or now (already powered on)
    kAlreadySubscribed = 8,  // the activity API has one subscriber
    kNotSubscribed = 9,
    kForked = 10,  // this process is a fork of the one that has the devices, without their workers
};

// A sentence without a full stop; a static string.
MINDTORCH_EXPORT std::string_view describe(Result result) noexcept;

}  // namespace mindtorch::reference_device

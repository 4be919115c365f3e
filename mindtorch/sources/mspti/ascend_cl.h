// The few functions of AscendCL that the source needs: whether a device is there, what it is, and waiting for it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::sources::mspti {

// Ok if the program uses AscendCL and sees a device, or if the machine has a device node. Loads and initialises nothing.
Status probe_devices();

// The devices that the program sees, or nothing while it does not use AscendCL.
std::vector<trace::DeviceProperties> device_properties();

// The version of the runtime ("1.12.0"), if it is known.
std::string runtime_version();

// The device that the calling thread has chosen, if it has chosen one.
std::optional<int> current_device();

// Waits until everything that was launched on these devices before is done. False if that took longer than `deadline`. Never touches other
// devices, because AscendCL would create a context on each of them.
bool synchronize_devices(std::vector<int> devices, std::chrono::milliseconds deadline);

}  // namespace mindtorch::sources::mspti

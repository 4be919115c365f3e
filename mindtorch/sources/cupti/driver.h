// The few functions of the CUDA driver that the source needs: whether a device is there, what it is, and waiting for it.
#pragma once

#include <chrono>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/sources/cupti/occupancy.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::sources::cupti {

// The properties of a device that trace headers and kernels need.
struct DeviceProperties {
  int multiprocessors = 0;
  int warp_size = 32;
  MultiprocessorLimits limits;
  trace::DeviceProperties reported;
};

// Ok if the driver can be loaded and a device node exists. Does not initialise the driver: a process may still fork.
Status probe_driver();

// Returns the properties of all devices, or nothing while the program has not initialised CUDA.
std::vector<DeviceProperties> device_properties();

// The version the driver supports (13000), 0 if it is not known.
int driver_version();

// Waits until everything that was launched before is done, on every device in use, also while threads of the program capture graphs: their
// captures go on. False if that took longer than `deadline`; the wait then continues in the background and does no harm.
bool wait_for_devices(std::chrono::milliseconds deadline);

}  // namespace mindtorch::sources::cupti

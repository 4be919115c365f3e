// The few functions of the CUDA driver that a source calls: the double is the driver's library too, with two devices whose contexts exist.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "tests/doubles/cupti/library.h"

using cupti_double::library;

namespace {

constexpr int kSuccess = 0, kInvalidValue = 1, kInvalidDevice = 101;
constexpr int kDevices = 2;
constexpr std::string_view kName = "Double of a GPU";
int context;  // only its address matters

bool is_device(int device) { return device >= 0 && device < kDevices; }

// CUdevice_attribute.
int attribute(int which) {
  switch (which) {
    case 1: return 1024;    // threads per block
    case 8: return 49152;   // shared memory per block
    case 10: return 32;     // warp size
    case 12: return 65536;  // registers per block
    case 16: return 132;    // multiprocessors
    case 39: return 2048;   // threads per multiprocessor
    case 75: return 9;      // compute capability
    case 76: return 0;
    case 81: return 233472;  // shared memory per multiprocessor
    case 82: return 65536;   // registers per multiprocessor
    case 97: return 232448;  // shared memory per block, if asked for
    default: return 0;
  }
}

}  // namespace

#define DRIVER_FUNCTION extern "C" __attribute__((visibility("default"))) int

DRIVER_FUNCTION cuDriverGetVersion(int* version) {
  *version = 13000;
  return kSuccess;
}

DRIVER_FUNCTION cuDeviceGetCount(int* count) {
  *count = kDevices;
  return kSuccess;
}

DRIVER_FUNCTION cuDeviceGetName(char* name, int size, int device) {
  if (!is_device(device) || size <= 0) return kInvalidDevice;
  const std::size_t length = std::min(kName.size(), static_cast<std::size_t>(size) - 1);
  std::memcpy(name, kName.data(), length);
  name[length] = '\0';
  return kSuccess;
}

DRIVER_FUNCTION cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  *bytes = std::size_t{8} << 30;
  return is_device(device) ? kSuccess : kInvalidDevice;
}

DRIVER_FUNCTION cuDeviceGetAttribute(int* value, int which, int device) {
  *value = attribute(which);
  return is_device(device) ? kSuccess : kInvalidDevice;
}

DRIVER_FUNCTION cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return is_device(device) ? kSuccess : kInvalidDevice;
}

DRIVER_FUNCTION cuDevicePrimaryCtxRetain(void** out, int device) {
  *out = &context;
  return is_device(device) ? kSuccess : kInvalidDevice;
}

DRIVER_FUNCTION cuDevicePrimaryCtxRelease_v2(int device) { return is_device(device) ? kSuccess : kInvalidDevice; }

DRIVER_FUNCTION cuCtxPushCurrent_v2(void* pushed) { return pushed == &context ? kSuccess : kInvalidValue; }

DRIVER_FUNCTION cuCtxPopCurrent_v2(void** popped) {
  *popped = &context;
  return kSuccess;
}

// Waits as long as a test holds the device.
DRIVER_FUNCTION cuCtxSynchronize() {
  library().device.wait_until_idle();
  return kSuccess;
}

// A libcuda of the tests: one GPU whose work is that of the double of libcupti. It has the functions that the CUPTI source loads.
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "tests/doubles/cupti/cupti_double.h"

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;

// A test has set the variable: other programs have taken all memory of the device.
bool has_no_memory() { return std::getenv("CUDA_DOUBLE_HAS_NO_MEMORY") != nullptr; }

// As CUdevice_attribute numbers them: what an H200 has.
int attribute(int which) {
  switch (which) {
    case 1: return 1024;   // threads in a block
    case 10: return 32;    // threads in a warp
    case 16: return 132;   // multiprocessors
    case 39: return 2048;  // threads on a multiprocessor
    case 75: return 9;     // compute capability
    case 76: return 0;
    default: return 65536;
  }
}

}  // namespace

CUPTI_DOUBLE_API int cuDriverGetVersion(int* version) { return *version = 13000, kSuccess; }
CUPTI_DOUBLE_API int cuDeviceGetCount(int* count) { return *count = 1, kSuccess; }
CUPTI_DOUBLE_API int cuDeviceGetName(char* name, int size, int) {
  std::snprintf(name, static_cast<std::size_t>(size), "GPU of the tests");
  return kSuccess;
}
CUPTI_DOUBLE_API int cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = std::size_t{1} << 30, kSuccess; }
CUPTI_DOUBLE_API int cuDeviceGetAttribute(int* value, int which, int) { return *value = attribute(which), kSuccess; }
CUPTI_DOUBLE_API int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  if (device != 0) return kInvalidValue;
  *flags = 0;
  *active = 1;
  return kSuccess;
}
CUPTI_DOUBLE_API int cuDevicePrimaryCtxRetain(void** context, int) {
  return *context = reinterpret_cast<void*>(&cuDriverGetVersion), kSuccess;
}
CUPTI_DOUBLE_API int cuDevicePrimaryCtxRelease_v2(int) { return kSuccess; }
CUPTI_DOUBLE_API int cuCtxPushCurrent_v2(void*) { return kSuccess; }
CUPTI_DOUBLE_API int cuCtxPopCurrent_v2(void**) { return kSuccess; }
CUPTI_DOUBLE_API int cuThreadExchangeStreamCaptureMode(int* mode) { return cupti_double_exchange_capture_mode(mode); }
CUPTI_DOUBLE_API int cuMemAlloc_v2(unsigned long long* address, std::size_t) {
  *address = 0x1000;
  return has_no_memory() ? kOutOfMemory : cupti_double_unsafe_call();
}
CUPTI_DOUBLE_API int cuMemFree_v2(unsigned long long) { return cupti_double_free(); }
CUPTI_DOUBLE_API int cuMemHostAlloc(void** memory, std::size_t, unsigned) {
  *memory = reinterpret_cast<void*>(&cuDriverGetVersion);
  return cupti_double_unsafe_call();
}
CUPTI_DOUBLE_API int cuMemFreeHost(void*) { return cupti_double_free(); }

// The CUDA driver, loaded at run time. Every call fails with "not initialised" until the program itself uses CUDA, which is intended.
#include "mindtorch/sources/cupti/driver.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "mindtorch/base/dynamic_library.h"
#include "mindtorch/sources/deadline.h"

namespace mindtorch::sources::cupti {
namespace {

using Device = int;
using Context = void*;
using DeviceAddress = unsigned long long;

// NOLINTBEGIN(readability-identifier-naming): the members have the vendor's names.
struct Driver {
  int (*cuDriverGetVersion)(int*) = nullptr;
  int (*cuDeviceGetCount)(int*) = nullptr;
  int (*cuDeviceGetName)(char*, int, Device) = nullptr;
  int (*cuDeviceTotalMem_v2)(std::size_t*, Device) = nullptr;
  int (*cuDeviceGetAttribute)(int*, int, Device) = nullptr;
  int (*cuDevicePrimaryCtxGetState)(Device, unsigned*, int*) = nullptr;
  int (*cuDevicePrimaryCtxRetain)(Context*, Device) = nullptr;
  int (*cuDevicePrimaryCtxRelease_v2)(Device) = nullptr;
  int (*cuCtxPushCurrent_v2)(Context) = nullptr;
  int (*cuCtxPopCurrent_v2)(Context*) = nullptr;
  int (*cuThreadExchangeStreamCaptureMode)(int*) = nullptr;
  int (*cuMemAlloc_v2)(DeviceAddress*, std::size_t) = nullptr;
  int (*cuMemFree_v2)(DeviceAddress) = nullptr;
  int (*cuMemHostAlloc)(void**, std::size_t, unsigned) = nullptr;
  int (*cuMemFreeHost)(void*) = nullptr;
};
// NOLINTEND(readability-identifier-naming)

// CUstreamCaptureMode.
constexpr int kRelaxed = 2;

// CUdevice_attribute.
enum : int {
  kMaxThreadsPerBlock = 1,
  kSharedMemoryPerBlock = 8,
  kWarpSize = 10,
  kRegistersPerBlock = 12,
  kClockRate = 13,  // kHz
  kMultiprocessorCount = 16,
  kMemoryClockRate = 36,  // kHz
  kMemoryBusWidth = 37,   // bits
  kL2CacheSize = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kSharedMemoryPerMultiprocessor = 81,
  kRegistersPerMultiprocessor = 82,
  kSharedMemoryPerBlockOptin = 97,
  kMaxBlocksPerMultiprocessor = 106,
  kReservedSharedMemoryPerBlock = 111,
};

// The driver's library and what is missing of it. Never closed.
struct LoadedDriver {
  DynamicLibrary library;
  Driver functions;
  Status status = Status::ok();
};

LoadedDriver& load_driver() {
  static LoadedDriver& driver = *[] {
    auto* loaded = new LoadedDriver;
    const std::string chosen = chosen_library("cuda");
    loaded->status = loaded->library.open({chosen.empty() ? "libcuda.so.1" : chosen});
    if (!loaded->status) return loaded;
    FunctionFinder functions(loaded->library);
    Driver& f = loaded->functions;
    functions.require("cuDriverGetVersion", f.cuDriverGetVersion);
    functions.require("cuDeviceGetCount", f.cuDeviceGetCount);
    functions.require("cuDeviceGetName", f.cuDeviceGetName);
    functions.require("cuDeviceTotalMem_v2", f.cuDeviceTotalMem_v2);
    functions.require("cuDeviceGetAttribute", f.cuDeviceGetAttribute);
    functions.require("cuDevicePrimaryCtxGetState", f.cuDevicePrimaryCtxGetState);
    functions.require("cuDevicePrimaryCtxRetain", f.cuDevicePrimaryCtxRetain);
    functions.require("cuDevicePrimaryCtxRelease_v2", f.cuDevicePrimaryCtxRelease_v2);
    functions.require("cuCtxPushCurrent_v2", f.cuCtxPushCurrent_v2);
    functions.require("cuCtxPopCurrent_v2", f.cuCtxPopCurrent_v2);
    functions.require("cuThreadExchangeStreamCaptureMode", f.cuThreadExchangeStreamCaptureMode);
    functions.require("cuMemAlloc_v2", f.cuMemAlloc_v2);
    functions.require("cuMemFree_v2", f.cuMemFree_v2);
    functions.require("cuMemHostAlloc", f.cuMemHostAlloc);
    functions.require("cuMemFreeHost", f.cuMemFreeHost);
    if (!functions.missing().empty())
      loaded->status = Status::unavailable(fmt::format("{} lacks {}", loaded->library.path(), functions.missing()));
    return loaded;
  }();
  return driver;
}

bool has_device_node() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::exists("/dev/dxg", ignored)) return true;  // WSL
  for (const auto& entry : fs::directory_iterator("/dev", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("nvidia") && name.size() > 6 && name[6] >= '0' && name[6] <= '9') return true;
  }
  return false;
}

DeviceProperties properties_of(const Driver& driver, Device device) {
  const auto attribute = [&](int which) {
    int value = 0;
    driver.cuDeviceGetAttribute(&value, which, device);
    return value;
  };
  std::array<char, 256> name{};
  driver.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device);
  std::size_t memory = 0;
  driver.cuDeviceTotalMem_v2(&memory, device);
  const trace::Device traced{trace::DeviceType::kCuda, static_cast<std::uint8_t>(device)};
  DeviceProperties properties{.multiprocessors = attribute(kMultiprocessorCount),
                              .warp_size = attribute(kWarpSize),
                              .limits = {},
                              .reported = {.device = traced, .name = name.data(), .numbers = {}}};
  properties.reported.numbers = {{"totalGlobalMem", static_cast<std::int64_t>(memory)},
                                 {"computeMajor", attribute(kComputeMajor)},
                                 {"computeMinor", attribute(kComputeMinor)},
                                 {"maxThreadsPerBlock", attribute(kMaxThreadsPerBlock)},
                                 {"maxThreadsPerMultiprocessor", attribute(kMaxThreadsPerMultiprocessor)},
                                 {"regsPerBlock", attribute(kRegistersPerBlock)},
                                 {"warpSize", properties.warp_size},
                                 {"sharedMemPerBlock", attribute(kSharedMemoryPerBlock)},
                                 {"numSms", properties.multiprocessors},
                                 {"regsPerMultiprocessor", attribute(kRegistersPerMultiprocessor)},
                                 {"sharedMemPerBlockOptin", attribute(kSharedMemoryPerBlockOptin)},
                                 {"sharedMemPerMultiprocessor", attribute(kSharedMemoryPerMultiprocessor)},
                                 // What follows is not in torch's traces: the peaks of the device are computed from it.
                                 {"clockRate", attribute(kClockRate)},
                                 {"memoryClockRate", attribute(kMemoryClockRate)},
                                 {"memoryBusWidth", attribute(kMemoryBusWidth)},
                                 {"l2CacheSize", attribute(kL2CacheSize)}};
  properties.limits = {.compute_major = attribute(kComputeMajor),
                       .compute_minor = attribute(kComputeMinor),
                       .threads = attribute(kMaxThreadsPerMultiprocessor),
                       .warp_size = properties.warp_size,
                       .registers = attribute(kRegistersPerMultiprocessor),
                       .shared_memory = attribute(kSharedMemoryPerMultiprocessor),
                       .blocks = attribute(kMaxBlocksPerMultiprocessor),
                       .reserved_shared_memory = attribute(kReservedSharedMemoryPerBlock)};
  return properties;
}

int device_count(const LoadedDriver& driver) {
  int count = 0;
  if (!driver.status || driver.functions.cuDeviceGetCount(&count) != 0) return 0;
  return count;
}

// Waits for the work of the current context. cuCtxSynchronize() would end every capture in it with an error, in all modes of capture. The
// driver waits just as long before it frees memory, because work may use it, and that harms no capture: a thread that has chosen the
// relaxed mode may allocate while others capture.
void wait_for_context(const Driver& driver) {
  int mode = kRelaxed;
  if (driver.cuThreadExchangeStreamCaptureMode(&mode) != 0) return;
  DeviceAddress address = 0;
  void* memory = nullptr;
  if (driver.cuMemAlloc_v2(&address, 1) == 0)
    driver.cuMemFree_v2(address);
  else if (driver.cuMemHostAlloc(&memory, 1, 0) == 0)  // the device has no memory left
    driver.cuMemFreeHost(memory);
  driver.cuThreadExchangeStreamCaptureMode(&mode);
}

// A device without a context has nothing to wait for, and is not given one.
void wait_for_device(const Driver& driver, Device device) {
  unsigned flags = 0;
  int active = 0;
  if (driver.cuDevicePrimaryCtxGetState(device, &flags, &active) != 0 || active == 0) return;
  Context context = nullptr;
  if (driver.cuDevicePrimaryCtxRetain(&context, device) != 0) return;
  if (driver.cuCtxPushCurrent_v2(context) == 0) {
    wait_for_context(driver);
    driver.cuCtxPopCurrent_v2(&context);
  }
  driver.cuDevicePrimaryCtxRelease_v2(device);
}

}  // namespace

Status probe_driver() {
  const LoadedDriver& driver = load_driver();
  if (!driver.status) return Status::unavailable(fmt::format("no NVIDIA driver ({})", driver.status.reason()));
  if (chosen_library("cuda").empty() && !has_device_node())
    return Status::unavailable("the NVIDIA driver is installed, but this machine or container shows no GPU (/dev/nvidia0)");
  return Status::ok();
}

std::vector<DeviceProperties> device_properties() {
  const LoadedDriver& driver = load_driver();
  std::vector<DeviceProperties> all;
  for (Device device = 0; device < device_count(driver); ++device) all.push_back(properties_of(driver.functions, device));
  return all;
}

int driver_version() {
  const LoadedDriver& driver = load_driver();
  int version = 0;
  if (driver.status) driver.functions.cuDriverGetVersion(&version);
  return version;
}

bool wait_for_devices(std::chrono::milliseconds deadline) {
  const LoadedDriver& driver = load_driver();
  if (device_count(driver) == 0) return true;
  return ends_within(deadline, [&driver] {
    for (Device device = 0; device < device_count(driver); ++device) wait_for_device(driver.functions, device);
  });
}

}  // namespace mindtorch::sources::cupti

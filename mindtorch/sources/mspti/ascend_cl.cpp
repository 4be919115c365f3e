// AscendCL as the program has loaded it. It is looked up at each call: a program may load it at any time.
#include "mindtorch/sources/mspti/ascend_cl.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>

#include "mindtorch/base/dynamic_library.h"
#include "mindtorch/sources/deadline.h"

namespace mindtorch::sources::mspti {
namespace {

// aclrtMemAttr: the device's main memory.
constexpr int kHbmMemory = 1;

struct AscendCl {
  int (*aclrtGetDeviceCount)(std::uint32_t* count) = nullptr;
  int (*aclrtGetDevice)(std::int32_t* device) = nullptr;
  int (*aclrtSetDevice)(std::int32_t device) = nullptr;
  int (*aclrtSynchronizeDevice)() = nullptr;
  int (*aclrtGetMemInfo)(int attribute, std::size_t* free, std::size_t* total) = nullptr;
  int (*aclrtGetVersion)(std::int32_t* major, std::int32_t* minor, std::int32_t* patch) = nullptr;
  const char* (*aclrtGetSocName)() = nullptr;
};

// A handle for dlsym(): the library that MINDTORCH_LIBRARY_PATH names, or the one that the process has loaded. Never closed.
std::optional<void*> find_library() {
  if (const std::string chosen = chosen_library("ascendcl"); !chosen.empty()) {
    void* library = ::dlopen(chosen.c_str(), RTLD_NOW | RTLD_LOCAL);
    return library != nullptr ? std::optional(library) : std::nullopt;
  }
  // MSPTI's own wrappers come first in the order of symbols. A library that is opened directly would pass them by.
  if (::dlsym(RTLD_DEFAULT, "aclrtSynchronizeDevice") != nullptr) return RTLD_DEFAULT;
  for (const char* name : {"libacl_rt.so", "libascendcl.so"}) {
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return library;
  }
  return std::nullopt;
}

std::optional<AscendCl> find_ascend_cl() {
  const std::optional<void*> library = find_library();
  if (!library) return std::nullopt;
  AscendCl found;
  const auto find = [&](const char* name, auto*& pointer) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(::dlsym(*library, name));
  };
  find("aclrtGetDeviceCount", found.aclrtGetDeviceCount);
  find("aclrtGetDevice", found.aclrtGetDevice);
  find("aclrtSetDevice", found.aclrtSetDevice);
  find("aclrtSynchronizeDevice", found.aclrtSynchronizeDevice);
  find("aclrtGetMemInfo", found.aclrtGetMemInfo);
  find("aclrtGetVersion", found.aclrtGetVersion);
  find("aclrtGetSocName", found.aclrtGetSocName);
  return found;
}

std::uint32_t device_count(const AscendCl& acl) {
  std::uint32_t count = 0;
  return acl.aclrtGetDeviceCount != nullptr && acl.aclrtGetDeviceCount(&count) == 0 ? count : 0;
}

bool has_device_node() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("davinci") && name.size() > 7 && name[7] >= '0' && name[7] <= '9') return true;
  }
  return false;
}

}  // namespace

Status probe_devices() {
  const std::optional<AscendCl> acl = find_ascend_cl();
  if (acl && device_count(*acl) > 0) return Status::ok();
  if (has_device_node()) return Status::ok();
  return Status::unavailable(
      "this machine or container shows no Ascend NPU (/dev/davinci0); in a container, pass the devices and the driver's folder in");
}

std::vector<trace::DeviceProperties> device_properties() {
  const std::optional<AscendCl> acl = find_ascend_cl();
  std::vector<trace::DeviceProperties> all;
  if (!acl) return all;
  const char* name = acl->aclrtGetSocName != nullptr ? acl->aclrtGetSocName() : nullptr;
  const std::optional<int> current = current_device();
  for (std::uint32_t i = 0; i < device_count(*acl); ++i) {
    trace::DeviceProperties device{
        .device = {trace::DeviceType::kNpu, static_cast<std::uint8_t>(i)}, .name = name != nullptr ? name : "Ascend NPU", .numbers = {}};
    // AscendCL tells the memory of the current device only.
    std::size_t free = 0, total = 0;
    if (current == static_cast<int>(i) && acl->aclrtGetMemInfo != nullptr && acl->aclrtGetMemInfo(kHbmMemory, &free, &total) == 0)
      device.numbers.push_back({"totalGlobalMem", static_cast<std::int64_t>(total)});
    all.push_back(std::move(device));
  }
  return all;
}

std::string runtime_version() {
  const std::optional<AscendCl> acl = find_ascend_cl();
  std::int32_t major = 0, minor = 0, patch = 0;
  if (!acl || acl->aclrtGetVersion == nullptr || acl->aclrtGetVersion(&major, &minor, &patch) != 0) return "";
  return fmt::format("{}.{}.{}", major, minor, patch);
}

std::optional<int> current_device() {
  const std::optional<AscendCl> acl = find_ascend_cl();
  std::int32_t device = 0;
  if (!acl || acl->aclrtGetDevice == nullptr || acl->aclrtGetDevice(&device) != 0) return std::nullopt;
  return device;
}

bool synchronize_devices(std::vector<int> devices, std::chrono::milliseconds deadline) {
  const std::optional<AscendCl> acl = find_ascend_cl();
  if (!acl || acl->aclrtSetDevice == nullptr || acl->aclrtSynchronizeDevice == nullptr || devices.empty()) return true;
  return ends_within(deadline, [acl = *acl, devices = std::move(devices)] {
    for (const int device : devices) {
      if (acl.aclrtSetDevice(device) == 0) acl.aclrtSynchronizeDevice();
    }
  });
}

}  // namespace mindtorch::sources::mspti

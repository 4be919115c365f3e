// Functions of the CUDA runtime and driver.
#include "mindtorch/sources/cupti/api_names.h"

#include <algorithm>
#include <array>

namespace mindtorch::sources::cupti {
namespace {

constexpr std::array<std::uint32_t, 17> kNoisyRuntimeCalls = {
    10,                            // cudaGetLastError
    11,                            // cudaPeekAtLastError
    12,                            // cudaGetErrorString
    16,                            // cudaSetDevice
    17,                            // cudaGetDevice
    200,                           // cudaDeviceGetAttribute
    207, 210, 251,                 // cudaOccupancyMaxActiveBlocksPerMultiprocessor
    317, 318,                      // cudaStreamIsCapturing
    324, 325, 409, 410, 461, 462,  // cudaStreamGetCaptureInfo
};

// No release has functions of higher numbers: CUDA 13.0 ends at 806.
constexpr std::uint32_t kMostDriverCalls = 1024;

constexpr std::array<std::string_view, 7> kWorkPrefixes = {
    "cudaLaunchKernel", "cudaLaunchCooperativeKernel", "__cudaLaunchKernel", "cudaGraphLaunch",
    "cuLaunchKernel",   "cuLaunchCooperativeKernel",   "cuGraphLaunch"};

bool starts_with_any(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

std::span<const std::uint32_t> noisy_runtime_calls() { return kNoisyRuntimeCalls; }
bool is_noisy_runtime_call(std::uint32_t callback_id) {
  return std::ranges::find(kNoisyRuntimeCalls, callback_id) != kNoisyRuntimeCalls.end();
}

DriverCalls driver_calls(const Functions& cupti) {
  DriverCalls calls;
  for (std::uint32_t call = 1; call < kMostDriverCalls; ++call) {
    const char* name = nullptr;
    // The runtime also calls functions that have a number and no name.
    const bool has_name = cupti.cuptiGetCallbackName(kDriverApi, call, &name) == kSuccess && name != nullptr;
    const bool is_needed = has_name && is_driver_call_worth_keeping(plain_api_name(name));
    (is_needed ? calls.needed : calls.unneeded).push_back(call);
  }
  return calls;
}

std::string plain_api_name(std::string_view name) {
  // A version is "_v" and digits at the very end.
  const std::size_t version = name.rfind("_v");
  if (version != std::string_view::npos && version + 2 < name.size() &&
      std::ranges::all_of(name.substr(version + 2), [](char c) { return c >= '0' && c <= '9'; }))
    name = name.substr(0, version);
  for (const std::string_view suffix : {"_ptsz", "_ptds"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return std::string(name);
}

bool causes_device_work(std::string_view plain_name) { return starts_with_any(plain_name, kWorkPrefixes); }

bool is_driver_call_worth_keeping(std::string_view plain_name) {
  static constexpr std::array<std::string_view, 9> kPrefixes = {
      "cuLaunchKernel", "cuLaunchCooperativeKernel", "cuGraphLaunch", "cuMemcpy", "cuMemset", "cuMemCreate", "cuMemMap", "cuMemUnmap",
      "cuMemRelease"};
  return starts_with_any(plain_name, kPrefixes);
}

}  // namespace mindtorch::sources::cupti

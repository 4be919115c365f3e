// The properties of functions of the CUDA runtime and driver that the source needs, by CUPTI's numbers of the functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/sources/cupti/cupti_abi.h"

namespace mindtorch::sources::cupti {

// Frequent calls of the runtime that are not useful in a trace. They are not recorded.
std::span<const std::uint32_t> noisy_runtime_calls();
bool is_noisy_runtime_call(std::uint32_t callback_id);
// The calls of the driver, by whether they are worth keeping. The runtime makes several of the others in each launch, and CUPTI spends more
// time on their records than on the launch itself unless they are switched off one by one.
struct DriverCalls {
  std::vector<std::uint32_t> needed, unneeded;
};
DriverCalls driver_calls(const Functions& cupti);

// "cudaLaunchKernel_ptsz_v7000" -> "cudaLaunchKernel".
std::string plain_api_name(std::string_view name);

// True if every successful call of this function causes a record of the device. Copies and memsets do not: libraries call them with zero
// bytes, which leaves no record.
bool causes_device_work(std::string_view plain_name);
// True if a driver call tells more than the runtime call around it: launches, copies, and management of virtual memory.
bool is_driver_call_worth_keeping(std::string_view plain_name);

}  // namespace mindtorch::sources::cupti

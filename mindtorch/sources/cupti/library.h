// Finds and loads CUPTI at run time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/base/dynamic_library.h"
#include "mindtorch/base/error.h"
#include "mindtorch/sources/cupti/api_names.h"
#include "mindtorch/sources/cupti/cupti_abi.h"
#include "mindtorch/sources/cupti/cupti_abi_v2.h"

namespace mindtorch::sources::cupti {

class Library {
 public:
  // Loads the library unless it is loaded already. The reason of a failure lists what was tried.
  Status load();
  bool is_loaded() const { return version_ != 0; }
  const Functions& functions() const { return functions_; }
  // True from CUPTI 13.3 on, if all of them are there.
  bool has_subscriber_functions() const { return has_subscriber_functions_; }
  const SubscriberFunctions& subscriber_functions() const { return subscriber_functions_; }
  const DynamicLibrary& file() const { return library_; }
  const std::string& path() const { return library_.path(); }
  std::uint32_t version() const { return version_; }  // 130001 for CUDA 13.0

  // The calls of the driver that are wanted, and the others, by this library's numbers.
  const std::vector<std::uint32_t>& needed_driver_calls() const { return driver_calls_.needed; }
  const std::vector<std::uint32_t>& unneeded_driver_calls() const { return driver_calls_.unneeded; }

  // Ok, or "cuptiX: the library's text (number); what to do about it".
  Status check(Result result, std::string_view call) const;
  // "what went wrong (number)".
  std::string explain(Result result) const;

 private:
  Status resolve();

  DynamicLibrary library_;
  Functions functions_;
  SubscriberFunctions subscriber_functions_;
  bool has_subscriber_functions_ = false;
  DriverCalls driver_calls_;
  std::uint32_t version_ = 0;
};

// Where CUPTI may be, in the order in which it is looked for: MINDTORCH_LIBRARY_PATH, what the process has loaded, PyTorch's, CUDA_HOME's,
// the system's. Exposed for tests.
std::vector<std::string> library_candidates();

}  // namespace mindtorch::sources::cupti

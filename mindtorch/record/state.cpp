// The state word, and the version of the hooks.
#include "mindtorch/record/state.h"

#include "mindtorch/base/error.h"

namespace mindtorch::record {

std::atomic<std::uint64_t> state_word{0};

void check_abi(std::uint32_t compiled_with) {
  if (compiled_with != kAbiVersion)
    throw_error("record.check_abi", "this host was compiled for version {} of the recording hooks, the library has version {}: rebuild it",
                compiled_with, kAbiVersion);
}

}  // namespace mindtorch::record

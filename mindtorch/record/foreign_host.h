// A host in a binary of its own: plain functions instead of a class, so that it may be built with another ABI of the standard library than
// this one (PyTorch 2.6's wheels are) and needs no header but those of the hooks.
#pragma once

#include <cstdint>

#include "mindtorch/base/export.h"
#include "mindtorch/record/state.h"

namespace mindtorch::record {

struct ForeignHost {
  std::uint32_t abi_version = kAbiVersion;  // of the headers that the host was compiled with
  const char* name = nullptr;
  // As those of Host. What session_starts() returns is null, or a text that lives as long as the process: why something cannot be recorded.
  const char* (*session_starts)(std::uint32_t wants) noexcept = nullptr;
  void (*session_stops)() noexcept = nullptr;
};

// Registers a host that stays for the life of the process; again with the same name does nothing. Null, or why it was refused (a text that
// lives as long as the process). Any thread; not from inside a host's function.
MINDTORCH_EXPORT const char* register_foreign_host(const ForeignHost& host) noexcept;

}  // namespace mindtorch::record

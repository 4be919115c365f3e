// A host in a separate binary. It consists of plain functions instead of a class, so that it may be built with a different ABI of the
// standard library (as PyTorch 2.6's wheels are) and needs only the headers of the hooks.
#pragma once

#include <cstdint>

#include "mindtorch/base/export.h"
#include "mindtorch/record/state.h"

namespace mindtorch::record {

struct ForeignHost {
  std::uint32_t abi_version = kAbiVersion;  // of the headers that the host was compiled with
  const char* name = nullptr;
  // These functions correspond to those of Host. session_starts() returns null, or a static string that explains why something cannot be
  // recorded.
  const char* (*session_starts)(std::uint32_t wants) noexcept = nullptr;
  void (*session_stops)() noexcept = nullptr;
};

// Registers a host for the life of the process. Registering the same name again has no effect. Returns null, or a static string that
// explains why the host was refused. May be called on any thread, but not from inside a host's function.
MINDTORCH_EXPORT const char* register_foreign_host(const ForeignHost& host) noexcept;

}  // namespace mindtorch::record

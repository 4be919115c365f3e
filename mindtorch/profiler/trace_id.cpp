// The default id of a trace.
#include "mindtorch/profiler/trace_id.h"

#include <fmt/core.h>

#include <cstdint>
#include <random>

namespace mindtorch::profiler {

std::string random_trace_id() {
  // Each id uses the system's entropy and not a generator, because a forked child must not repeat its parent's ids.
  std::random_device entropy;
  const auto word = [&] { return (static_cast<std::uint64_t>(entropy()) << 32) | entropy(); };
  const std::uint64_t high = (word() & 0xFFFFFFFFFFFF0FFF) | 0x0000000000004000;  // version 4
  const std::uint64_t low = (word() & 0x3FFFFFFFFFFFFFFF) | 0x8000000000000000;   // variant of RFC 4122
  return fmt::format("{:016X}{:016X}", high, low);
}

}  // namespace mindtorch::profiler

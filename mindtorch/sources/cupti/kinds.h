// The kinds of records that a session enables.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "mindtorch/record/source.h"
#include "mindtorch/sources/cupti/cupti_abi.h"

namespace mindtorch::sources::cupti {

struct Kind {
  std::uint32_t kind;
  std::string_view name;
  bool is_required;
};
// Calls come first: they are enabled first and disabled last.
inline constexpr std::array<Kind, 9> kKinds = {{
    {kRuntime, "RUNTIME", true},
    {kDriver, "DRIVER", false},
    {kConcurrentKernel, "CONCURRENT_KERNEL", true},
    {kMemcpy, "MEMCPY", true},
    {kMemset, "MEMSET", true},
    {kMemcpyPeer, "MEMCPY2", false},
    {kOverhead, "OVERHEAD", false},
    {kSynchronization, "SYNCHRONIZATION", false},
    {kGraphTrace, "GRAPH_TRACE", false},
}};

// What the records of CUDA events and waits hold in a session.
struct ExtraParts {
  bool event_times = false;  // events have a time of the device
  bool waits = true;         // false: waits are recorded only because events need it, and are not wanted
};

constexpr bool is_kind_of_calls(std::uint32_t kind) { return kind == kRuntime || kind == kDriver; }

inline bool is_asked_for(std::uint32_t kind, const record::SourceOptions& options) {
  if (kind == kSynchronization) return options.synchronizations;
  if (kind == kGraphTrace) return options.whole_graphs;
  return true;
}

}  // namespace mindtorch::sources::cupti

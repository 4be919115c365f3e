// The calls that are made between two steps: torch's table of (action before, action now) as data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "mindtorch/base/export.h"
#include "mindtorch/profiler/schedule.h"

namespace mindtorch::profiler {

enum class TraceCall : std::uint8_t { kPrepare, kStart, kStop, kReady };

struct Transition {
  std::string_view warning;          // given first; empty: none
  std::span<const TraceCall> calls;  // in this order
};

// From one action to the next; `to` without value is the end (stop()). Neither may be kDeviceStopped.
MINDTORCH_EXPORT Transition transition(ProfilerAction from, std::optional<ProfilerAction> to);

}  // namespace mindtorch::profiler

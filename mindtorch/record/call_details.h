// Where hosts keep arguments, results and schemas of calls while an execution trace is collected (trace/call_details.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/call_details.h"

namespace mindtorch::record {

using trace::CallDetails;
using trace::CallDetailsById;
using trace::CallDetailsOf;
using trace::CallValuesOf;
using trace::kCallId;

enum class CallDetailsState {
  kOff,
  kPaused,  // a session that starts now must be able to keep details
  kOn,      // hosts keep details
};
MINDTORCH_EXPORT extern std::atomic<CallDetailsState> call_details_state;

// Any thread may call these: the first one when a call begins, the other one when it has ended. Calls whose details do not fit into memory
// have none.
MINDTORCH_EXPORT void keep_call_inputs(std::uint64_t id, const CallDetailsOf<std::string_view>& details) noexcept;
MINDTORCH_EXPORT void keep_call_outputs(std::uint64_t id, const CallValuesOf<std::string_view>& outputs) noexcept;

// Everything that was kept since the last call.
MINDTORCH_EXPORT CallDetailsById take_call_details();

}  // namespace mindtorch::record

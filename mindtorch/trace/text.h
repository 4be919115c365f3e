// Devices, kinds of events, steps and losses as text, for users and for programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::trace {

// "cpu", "cuda:1", "npu"; without a number the first one. Torch's "privateuseone" is the NPU. Throws InvalidArgument for anything else.
MINDTORCH_EXPORT Device parse_device(std::string_view text);

// "CPU", "CUDA:0": as users see a device.
MINDTORCH_EXPORT std::string device_text(Device device);
// The inverse of parse_device(), with a number: "cpu", "cuda:0", as torch writes a device.
MINDTORCH_EXPORT std::string device_specifier(Device device);

// "op", "backward", "scope", ...
MINDTORCH_EXPORT std::string_view event_kind_name(EventKind kind);
MINDTORCH_EXPORT std::optional<EventKind> event_kind_of_name(std::string_view name);

// The inverse of scalar_type_name(); kOther for a name that is unknown.
MINDTORCH_EXPORT ScalarType scalar_type_of_name(std::string_view name);

// The name of a step event, as torch writes it: "ProfilerStep#3". Only readers of other programs' names need step_in_name(): in a recording
// the number is in the event's link. It gives no value for a name that is not a step's, or has no number.
inline constexpr std::string_view kStepPrefix = "ProfilerStep#";
MINDTORCH_EXPORT std::string step_name(std::int64_t step);
MINDTORCH_EXPORT std::optional<std::int64_t> step_in_name(std::string_view name);
// The link of a step event whose number only its name tells; 0 if it does not.
MINDTORCH_EXPORT std::uint64_t step_link_in_name(std::string_view name);

// {"reason", "count", "where", "detail"}
MINDTORCH_EXPORT std::string loss_json(const Loss& loss);

}  // namespace mindtorch::trace

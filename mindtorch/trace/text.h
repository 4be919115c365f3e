// Devices, kinds of events and losses as text, for users and for programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::trace {

// "cpu", "cuda:1", "npu"; without a number the first one. Torch's "privateuseone" is the NPU. Throws InvalidArgument for anything else.
MINDTORCH_EXPORT Device parse_device(std::string_view text);

// "op", "backward", "scope", ...
MINDTORCH_EXPORT std::string_view event_kind_name(EventKind kind);
MINDTORCH_EXPORT std::optional<EventKind> event_kind_of_name(std::string_view name);

// The inverse of scalar_type_name(); kOther for a name that is unknown.
MINDTORCH_EXPORT ScalarType scalar_type_of_name(std::string_view name);

// {"reason", "count", "where", "detail"}
MINDTORCH_EXPORT std::string loss_json(const Loss& loss);

}  // namespace mindtorch::trace

// Devices, kinds of events and losses as text: what users say, and what programs read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mindtorch/trace/event.h"

namespace mindtorch::trace {

// "cpu", "cuda:1", "npu"; without a number the first one. Torch's "privateuseone" is the NPU. Throws InvalidArgument for anything else.
Device parse_device(std::string_view text);

// "op", "backward", "scope", ...
std::string_view event_kind_name(EventKind kind);
std::optional<EventKind> event_kind_of_name(std::string_view name);

// The inverse of scalar_type_name(); kOther for a name that is unknown.
ScalarType scalar_type_of_name(std::string_view name);

// {"reason", "count", "where", "detail"}
std::string loss_json(const Loss& loss);

}  // namespace mindtorch::trace

// Devices and losses as text: what users say, and what programs read.
#pragma once

#include <string>
#include <string_view>

#include "mindtorch/trace/event.h"

namespace mindtorch::trace {

// "cpu", "cuda:1", "npu"; without a number the first one. Torch's "privateuseone" is the NPU. Throws InvalidArgument for anything else.
Device parse_device(std::string_view text);

// {"reason", "count", "where", "detail"}
std::string loss_json(const Loss& loss);

}  // namespace mindtorch::trace

// The default id of a trace.
#pragma once

#include <string>

#include "mindtorch/base/export.h"

namespace mindtorch::profiler {

// A random UUID (version 4) as 32 upper-case hexadecimal digits, as torch writes it.
MINDTORCH_EXPORT std::string random_trace_id();

}  // namespace mindtorch::profiler

// The default id of a trace.
#pragma once

#include <string>

namespace mindtorch::profiler {

// A random UUID (version 4) as 32 upper-case hexadecimal digits, as torch writes it.
std::string random_trace_id();

}  // namespace mindtorch::profiler

// How torch writes times, shares and sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// "1.500s", "1.500ms", "1.500us"; `unit` "s", "ms" or "us" forces one, anything else lets the value choose.
MINDTORCH_EXPORT std::string format_time(double time_us, std::string_view unit = "");

// "12.34%"; "NaN" of a total of 0.
MINDTORCH_EXPORT std::string format_share(double part, double total);

// "1.00 KB", "-12 B".
MINDTORCH_EXPORT std::string format_memory(std::int64_t bytes);

// The unit torch chooses for a column of FLOPs from its smallest value above 0: {1e-6, "MFLOPs"}.
struct FlopUnit {
  double factor = 1;
  std::string_view name;
};
MINDTORCH_EXPORT FlopUnit flop_unit(std::int64_t smallest_flops);

}  // namespace mindtorch::analyze

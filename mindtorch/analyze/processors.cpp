// Numbers out of metadata.
#include "mindtorch/analyze/processors.h"

#include <cstdlib>

namespace mindtorch::analyze {

Processors processors_of(const trace::Recording& recording) {
  const auto number = [&](const char* name) -> std::optional<double> {
    const auto told = recording.metadata.find(name);
    if (told == recording.metadata.end()) return std::nullopt;
    return std::strtod(told->second.c_str(), nullptr);
  };
  return {.own = number("processors_own").value_or(0),
          .others = number("processors_others").value_or(0),
          .missing = number("processors_missing")};
}

}  // namespace mindtorch::analyze

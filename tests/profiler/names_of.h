// The names of all events of a recording, in order.
#pragma once

#include <string>
#include <vector>

#include "mindtorch/trace/recording.h"

namespace mindtorch::profiler {

inline std::vector<std::string> names_of(const trace::Recording& recording) {
  std::vector<std::string> names;
  for (trace::EventIndex i = 0; i < recording.events.size(); ++i) names.emplace_back(recording.name(i));
  return names;
}

}  // namespace mindtorch::profiler

// The bandwidth that a copy or a memset achieved.
#pragma once

#include <optional>
#include <span>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

// In GB/s, from the attribute "bytes" among the event's attributes and its duration. Empty for other kinds of events, and if the size or
// the duration is not known.
MINDTORCH_EXPORT std::optional<double> copy_bandwidth(const trace::Recording& recording, trace::EventIndex event,
                                                      std::span<const trace::Attribute> attributes);

}  // namespace mindtorch::analyze

// The size of a copy or a memset, and the bandwidth that it achieved.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

// The attribute "bytes" among the attributes of an event, if it is there.
MINDTORCH_EXPORT std::optional<std::int64_t> copied_bytes(const trace::Recording& recording, std::span<const trace::Attribute> attributes);

// In GB/s, from the attribute "bytes" among the event's attributes and its duration. Empty for other kinds of events, and if the size or
// the duration is not known.
MINDTORCH_EXPORT std::optional<double> copy_bandwidth(const trace::Recording& recording, trace::EventIndex event,
                                                      std::span<const trace::Attribute> attributes);

}  // namespace mindtorch::analyze

// Which peaks hold for a device of a recording.
#pragma once

#include "mindtorch/analyze/efficiency/efficiency.h"

namespace mindtorch::analyze {

// Given numbers are taken before those of the table, and those before computed ones.
DeviceLimit device_limit(const trace::Recording& recording, trace::Device device, const KnownPeaks& known);

}  // namespace mindtorch::analyze

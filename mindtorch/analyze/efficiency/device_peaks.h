// Peaks of known devices: a table by name, and what follows from the properties of a device that is not in it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/device_peaks.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

// Of the table. The name may be longer ("NVIDIA H100 80GB HBM3"). A device whose recorded number of multiprocessors is another one (a part
// of a device, another bin) is not the one of the table.
MINDTORCH_EXPORT std::optional<trace::DevicePeaks> listed_peaks(const trace::DeviceProperties& device);

// True if all words of `listed` are words of `name`: "h100 pcie" names "NVIDIA H100 PCIe".
bool names_device(std::string_view listed, std::string_view name);

// From the number of multiprocessors, their clock and the compute capability, and from the clock and the width of the memory bus. Empty if
// the recording has too little of it, or the architecture is not known.
MINDTORCH_EXPORT std::optional<trace::DevicePeaks> computed_peaks(const trace::DeviceProperties& device);

// Replaces numbers by those in a text such as "bfloat16=800" (TFLOP/s) or "memory=4.2" (TB/s). Throws InvalidArgument for other texts.
MINDTORCH_EXPORT void set_peak(trace::DevicePeaks& peaks, std::string_view text);

}  // namespace mindtorch::analyze

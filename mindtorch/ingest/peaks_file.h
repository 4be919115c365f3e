// Files of peaks: {"peaks": [{"device": "NVIDIA H200", "tflops": {"bfloat16": 989.4}, "memory_tbytes": 4.8}]}.
#pragma once

#include <string>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/device_peaks.h"

namespace mindtorch::ingest {

// Throws IoError if the file cannot be read, and InvalidArgument, which says what is wrong, if it is no such file.
MINDTORCH_EXPORT std::vector<trace::DevicePeaks> read_peaks(const std::string& path);

}  // namespace mindtorch::ingest

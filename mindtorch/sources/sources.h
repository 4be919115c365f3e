// The list of all sources.
#pragma once

#include <vector>

#include "mindtorch/record/source.h"

namespace mindtorch::sources {

// In the order in which they are tried for their device. They exist until the process ends, whether their device is present or not; probe()
// tells whether it is. Two sources know NPUs: the reference source is tried first, and finds a device only if the reference device was
// switched on. With the word "mspti" in MINDTORCH_NPU the reference source is left out. Throws InvalidArgument for a word but "reference"
// and "mspti".
std::vector<record::ActivitySource*> all_sources();

}  // namespace mindtorch::sources

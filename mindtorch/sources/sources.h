// The list of all sources.
#pragma once

#include <vector>

#include "mindtorch/record/source.h"

namespace mindtorch::sources {

// In the order in which they are tried for their device. They exist until the process ends, whether their device is present or not; probe()
// tells whether it is.
std::vector<record::ActivitySource*> all_sources();

}  // namespace mindtorch::sources

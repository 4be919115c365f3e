// The sources there are: the one list of who can watch a device.
#pragma once

#include <vector>

#include "mindtorch/record/source.h"

namespace mindtorch::sources {

// In the order in which they are tried for their device. They live as long as the process, whether their device is there or not: probe()
// tells.
std::vector<record::ActivitySource*> all_sources();

}  // namespace mindtorch::sources

// check_invariants(): tests what every reader of a Recording may rely on.
#pragma once

#include <string>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

// Returns an empty string if all invariants hold, and otherwise a sentence that describes the first violation.
MINDTORCH_EXPORT std::string check_invariants(const Recording& recording);

}  // namespace mindtorch::trace

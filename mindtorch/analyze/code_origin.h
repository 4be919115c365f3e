// CodeOrigin: whose code a source file is.
#pragma once

#include <cstdint>
#include <string_view>

#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

enum class CodeOrigin : std::uint8_t { kUser, kLibrary, kProfiler };

// Libraries are what is installed: packages, the standard library of Python, frozen modules, and code that torch.compile generated. Paths
// may be cut as torch cuts them ("torch/nn/modules/module.py", "contextlib.py").
MINDTORCH_EXPORT CodeOrigin code_origin(std::string_view file);

}  // namespace mindtorch::analyze

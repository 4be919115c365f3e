// Names of C++ functions as people write them.
#pragma once

#include <string>
#include <string_view>

#include "mindtorch/base/export.h"

namespace mindtorch {

// "_ZN7ck_tile6kentryILi1EEEvv.kd" as "void ck_tile::kentry<1>()": compilers for AMD's devices leave the names of kernels as the linker has
// them. Any other text is returned as it is.
MINDTORCH_EXPORT std::string demangled(std::string_view name);

}  // namespace mindtorch

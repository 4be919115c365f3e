// Text of sizes.
#include "mindtorch/runtime/dim_vector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mindtorch {

std::string to_string(IntArrayRef values) { return fmt::format("[{}]", fmt::join(values.begin(), values.end(), ", ")); }

}  // namespace mindtorch

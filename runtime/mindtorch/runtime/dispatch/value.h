// Value: an argument or result of an op whose type is known only at run time. Tools, tests and bindings use it; calls of C++ code are
// typed.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

class Generator;

// torch's numbers. Memory is always strided here, and contiguous unless an op keeps the order of its input.
enum class Layout : std::uint8_t { kStrided = 0 };
enum class MemoryFormat : std::uint8_t { kContiguous = 0, kPreserve = 1 };

// std::monostate is None. Enumerations are integers with torch's numbers.
using Value = std::variant<std::monostate, Tensor, TensorVector, bool, std::int64_t, double, std::vector<std::int64_t>, std::vector<double>,
                           std::string, Device, Generator*>;
using ValueVector = std::vector<Value>;

}  // namespace mindtorch

// Value: an argument or result of an op whose type is known only at run time. For tools, tests and bindings; the calls of C++ code are
// typed.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

class Generator;

// torch's numbers; memory here is always strided, and contiguous unless an op keeps the order of its input.
enum class Layout : std::uint8_t { kStrided = 0 };
enum class MemoryFormat : std::uint8_t { kContiguous = 0, kPreserve = 1 };

// std::monostate is None. Enumerations are given as the integers torch gives them.
using Value = std::variant<std::monostate, Tensor, TensorVector, bool, std::int64_t, double, std::vector<std::int64_t>, std::vector<double>,
                           std::string, Device, Generator*>;
using ValueVector = std::vector<Value>;

}  // namespace mindtorch

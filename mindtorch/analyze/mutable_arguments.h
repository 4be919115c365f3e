// Which arguments an op of torch writes, as far as its name tells. The schemas of ops are in PyTorch, which need not be there.
#pragma once

#include <cstddef>
#include <string_view>

namespace mindtorch::analyze {

// True for the name of an op that has a schema ("aten::add"); other events of torch have names like "autograd::engine::evaluate_function:
// X".
bool is_schema_name(std::string_view name);

// One call of such an op. The overload is empty if it is not known.
struct OpCall {
  std::string_view name;
  std::string_view overload;
  std::size_t arguments = 0;
};

// True if the call may write its argument at `position`, which is a tensor or a list of tensors.
bool writes_argument(const OpCall& call, std::size_t position);

}  // namespace mindtorch::analyze

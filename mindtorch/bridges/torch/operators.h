// The operators that are registered with torch, as far as their names go.
#pragma once

#include <ATen/record_function.h>

#include <atomic>
#include <cstdint>

namespace mindtorch::torch_bridge {

// Grows whenever an operator is removed; from then on the text of another one may lie where its name lay.
extern std::atomic<std::uint32_t> operators_removed __attribute__((visibility("hidden")));

// Begins to count in operators_removed. Once.
void watch_operators();

// Whether the name of the op is the text in the schema of a registered operator, which stays where it is until the operator is removed.
bool is_named_by_schema(const at::RecordFunction& fn);

}  // namespace mindtorch::torch_bridge

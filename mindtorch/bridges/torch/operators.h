// The names of the operators that are registered with torch.
#pragma once

#include <ATen/record_function.h>

#include <atomic>
#include <cstdint>

namespace mindtorch::torch_bridge {

// Increases whenever an operator is removed. From then on, another name may be stored at the address of its name.
extern std::atomic<std::uint32_t> operators_removed __attribute__((visibility("hidden")));

// Starts to count in operators_removed. Called once.
void watch_operators();

// True if the name of the op is the text in the schema of a registered operator. Its address is valid until the operator is removed.
bool is_named_by_schema(const at::RecordFunction& fn);

}  // namespace mindtorch::torch_bridge

// Values of torch as an execution trace writes them.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

namespace mindtorch::torch_bridge {

// The items of four JSON lists, separated by commas: one item for each value.
struct CallText {
  std::string values, shapes, types, strides;
};

// A tensor is [tensor, storage, offset, elements, bytes per element, device]; views share the number of their storage. Any thread may call
// it.
void append_value(const c10::IValue& value, CallText& text);

// Tensors and storages that come from now on are new ones; numbers are not used again.
void forget_numbers();

}  // namespace mindtorch::torch_bridge

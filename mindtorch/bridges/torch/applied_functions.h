// The arguments of a torch.autograd.Function that Python applies. Torch reports only the tensors among them.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mindtorch::torch_bridge {

// Writes all arguments of the function that this thread applies, as a row of trace/inputs.h in which a tensor has no sizes, and returns how
// many words it wrote; 0 if it knows of none.
using ArgumentSource = std::size_t (*)(std::int64_t* words, std::size_t capacity);

// The only source, or null.
void set_argument_source(ArgumentSource source) noexcept;

// All arguments of the function, in order, if `fn` is such a function; else empty. Values of other kinds than numbers are texts without
// content.
std::vector<c10::IValue> applied_arguments(const at::RecordFunction& fn);

}  // namespace mindtorch::torch_bridge

// The arguments that a torch.autograd.Function is applied to. Torch reports the tensors among them, and tells the others to its own
// profiler only. They are read from the Python function that applies it, which Dynamo cannot notice.
#pragma once

#include <nanobind/nanobind.h>

namespace mindtorch::python {

// Adds _applied_arguments(places, tensor) -> address of a C function: std::size_t (std::int64_t* words, std::size_t capacity). `places`
// says for the code of each function that applies which of its variables holds the arguments; `tensor` is the class of tensors.
//
// The C function writes the arguments of the application that this thread is about to begin, as a row of trace/inputs.h in which a tensor
// has no sizes, and returns how many words it wrote; 0 if there are none to tell.
void bind_applied_arguments(nanobind::module_& module);

}  // namespace mindtorch::python

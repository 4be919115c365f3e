// The engine runs the graph backwards. Nodes of the CPU run on the calling thread; the nodes of every other device run on one thread per
// device.
#pragma once

#include <optional>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/autograd/node.h"

namespace mindtorch::autograd {

// Computes the gradients of `outputs` with respect to all leaves and adds them to their grad(). `grad_outputs` may be empty if all outputs
// are scalars, or have undefined entries for scalars.
MINDTORCH_EXPORT void backward(TensorList outputs, TensorList grad_outputs = {}, std::optional<bool> retain_graph = std::nullopt,
                               bool create_graph = false);

// Returns the gradients of `outputs` with respect to `inputs`; nothing is accumulated. An input that the outputs do not depend on gets an
// undefined gradient with allow_unused, and is an error without it.
MINDTORCH_EXPORT TensorVector grad(TensorList outputs, TensorList inputs, TensorList grad_outputs = {},
                                   std::optional<bool> retain_graph = std::nullopt, bool create_graph = false, bool allow_unused = false);

}  // namespace mindtorch::autograd

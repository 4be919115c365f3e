// The engine: runs the graph backwards. CPU nodes run on the calling thread; the nodes of each other device on a thread of its own.
#pragma once

#include <optional>

#include "mindtorch/runtime/autograd/node.h"

namespace mindtorch::autograd {

// Gradients of `outputs` with respect to all leaves, added to their grad(). `grad_outputs` may be empty (then all outputs must be scalars)
// or have an undefined entry for each scalar.
void backward(TensorList outputs, TensorList grad_outputs = {}, std::optional<bool> retain_graph = std::nullopt, bool create_graph = false);

// Gradients of `outputs` with respect to `inputs` only; nothing is accumulated. With allow_unused, inputs that do not take part get an
// undefined gradient; without, that is an error.
TensorVector grad(TensorList outputs, TensorList inputs, TensorList grad_outputs = {}, std::optional<bool> retain_graph = std::nullopt,
                  bool create_graph = false, bool allow_unused = false);

}  // namespace mindtorch::autograd

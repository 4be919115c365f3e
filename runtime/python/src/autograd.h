// Autograd in Python: nodes, hooks, backward passes, functions written in Python.
#pragma once

#include <nanobind/nanobind.h>

#include "mindtorch/runtime/autograd/node.h"

namespace mindtorch::python {

namespace nb = nanobind;

void bind_autograd(nb::module_& module);           // grad mode, backward, grad, hooks, nodes
void bind_autograd_function(nb::module_& module);  // the base of autograd.Function

// A new reference to an object for the node; None for null.
PyObject* wrap_node(autograd::NodePtr node);

// Makes a tensor a leaf that does not require a gradient.
void detach_in_place(const Tensor& tensor);

}  // namespace mindtorch::python

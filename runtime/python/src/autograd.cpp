// Grad mode, backward passes, hooks and nodes.
#include "runtime/python/src/autograd.h"

#include <nanobind/stl/optional.h>

#include "mindtorch/runtime/autograd/accumulate_grad.h"
#include "mindtorch/runtime/autograd/engine.h"
#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/autograd/variable.h"
#include "mindtorch/runtime/functions.h"
#include "python/src/text.h"
#include "runtime/python/src/argument.h"
#include "runtime/python/src/gil.h"
#include "runtime/python/src/python_error.h"
#include "runtime/python/src/tensor_object.h"

namespace mindtorch::python {

namespace {

struct NodeObject {
  autograd::NodePtr node;
};

// "torch::autograd::AccumulateGrad" -> "AccumulateGrad"
std::string short_name(const autograd::Node& node) {
  const std::string_view name = node.name();
  const std::size_t colon = name.rfind(':');
  return std::string(colon == std::string_view::npos ? name : name.substr(colon + 1));
}

// Tensors of a sequence; None stands for an undefined one.
TensorVector tensors_of(nb::handle sequence) {
  TensorVector tensors;
  for (nb::handle item : sequence) {
    if (!item.is_none() && !is_tensor(item.ptr()))
      throw_error<TypeMismatch>("autograd.backward", "expected tensors, got {}", type_name(item.ptr()));
    tensors.push_back(item.is_none() ? Tensor() : unwrap(item.ptr()));
  }
  return tensors;
}

nb::tuple gradients_as_tuple(const TensorVector& gradients) {
  nb::list list;
  for (const Tensor& gradient : gradients) list.append(nb::steal(checked(wrap(gradient))));
  return nb::tuple(list);
}

void run_backward(nb::handle outputs, nb::handle gradients, std::optional<bool> retain_graph, bool create_graph) {
  const TensorVector roots = tensors_of(outputs), grads = tensors_of(gradients);
  const ReleasedGil released;
  autograd::backward(roots, grads, retain_graph, create_graph);
}

nb::tuple run_grad(nb::handle outputs, nb::handle inputs, nb::handle gradients, std::optional<bool> retain_graph, bool create_graph,
                   bool allow_unused) {
  const TensorVector roots = tensors_of(outputs), wanted = tensors_of(inputs), grads = tensors_of(gradients);
  TensorVector found;
  {
    const ReleasedGil released;
    found = autograd::grad(roots, wanted, grads, retain_graph, create_graph, allow_unused);
  }
  return gradients_as_tuple(found);
}

std::uint64_t register_hook(const Tensor& tensor, nb::callable hook) {
  auto held = std::make_shared<ForeignReference>(hook.ptr());
  return tensor.register_hook([held](const Tensor& grad) {
    const HeldGil gil;
    const nb::object given = nb::steal(checked(wrap(grad)));
    const nb::object result = nb::steal(checked(PyObject_CallOneArg(held->get(), given.ptr())));
    if (result.is_none()) return Tensor();
    if (!is_tensor(result.ptr()))
      throw_error<TypeMismatch>("Tensor.register_hook", "expected Tensor or None from the hook, got {}", type_name(result.ptr()));
    return unwrap(result.ptr());
  });
}

nb::tuple next_functions(const NodeObject& self) {
  nb::list list;
  for (const autograd::Edge& edge : self.node->next_edges())
    list.append(nb::make_tuple(nb::steal(checked(wrap_node(edge.function))), edge.input_nr));
  return nb::tuple(list);
}

nb::object variable(const NodeObject& self) {
  const auto* accumulate = dynamic_cast<const autograd::AccumulateGrad*>(self.node.get());
  if (accumulate == nullptr) throw_error<NoSuchAttribute>("grad_fn", "'{}' object has no attribute 'variable'", short_name(*self.node));
  return nb::steal(checked(wrap(accumulate->variable())));
}

}  // namespace

PyObject* wrap_node(autograd::NodePtr node) {
  if (!node) Py_RETURN_NONE;
  return nb::cast(NodeObject{std::move(node)}).release().ptr();
}

void detach_in_place(const Tensor& tensor) {
  if (tensor.is_view()) throw_error("Tensor.detach_", "Can't detach views in-place. Use detach() instead.");
  autograd::AutogradMeta* meta = tensor.impl()->autograd_meta();
  if (meta == nullptr) return;
  meta->grad_fn = nullptr;
  meta->output_nr = 0;
  meta->requires_grad = false;
  tensor.impl()->set_autograd_key(false);
}

void bind_autograd(nb::module_& module) {
  module.def("is_grad_enabled", &GradMode::is_enabled);
  module.def("set_grad_enabled", &GradMode::set_enabled, nb::arg("mode"));
  module.def("backward", run_backward, nb::arg("tensors"), nb::arg("grad_tensors"), nb::arg("retain_graph").none(),
             nb::arg("create_graph"));
  module.def("grad", run_grad, nb::arg("outputs"), nb::arg("inputs"), nb::arg("grad_outputs"), nb::arg("retain_graph").none(),
             nb::arg("create_graph"), nb::arg("allow_unused"));
  module.def("register_hook", register_hook, nb::arg("tensor"), nb::arg("hook"));
  module.def(
      "remove_hook", [](const Tensor& tensor, std::uint64_t id) { tensor.remove_hook(id); }, nb::arg("tensor"), nb::arg("id"));
  nb::class_<NodeObject>(module, "Node", "A step of the backward pass.")
      .def("name", [](const NodeObject& self) { return short_name(*self.node); })
      .def_prop_ro("next_functions", next_functions)
      .def_prop_ro("variable", variable)
      .def("_sequence_nr", [](const NodeObject& self) { return self.node->sequence_nr(); })
      .def("__eq__", [](const NodeObject& self, const NodeObject& other) { return self.node == other.node; })
      .def("__hash__", [](const NodeObject& self) { return reinterpret_cast<std::uintptr_t>(self.node.get()) >> 4; })
      .def("__repr__", [](const NodeObject& self) {
        return fmt::format("<{} object at {}>", short_name(*self.node), static_cast<const void*>(self.node.get()));
      });
}

}  // namespace mindtorch::python

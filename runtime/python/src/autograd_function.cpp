// Functions whose backward is written in Python: a node of the graph that calls it.
#include <nanobind/stl/shared_ptr.h>

#include <map>

#include "mindtorch/runtime/autograd/saved_variable.h"
#include "mindtorch/runtime/autograd/variable.h"
#include "mindtorch/runtime/functions.h"
#include "python/src/text.h"
#include "runtime/python/src/autograd.h"
#include "runtime/python/src/gil.h"
#include "runtime/python/src/python_error.h"
#include "runtime/python/src/tensor_object.h"

namespace mindtorch::python {

namespace {

// Tensors kept for the backward pass: owned by the node and by the context that Python sees.
struct SavedTensors {
  std::vector<autograd::SavedVariable> variables;
  autograd::Node* owner = nullptr;  // cleared when the node goes

  nb::tuple unpack() const {
    nb::list tensors;
    for (const autograd::SavedVariable& variable : variables) tensors.append(nb::steal(checked(wrap(variable.unpack(owner)))));
    return nb::tuple(tensors);
  }
};

const autograd::NodeName& node_name(const std::string& text) {
  static auto* names = new std::map<std::string, autograd::NodeName>();  // guarded by the GIL; a name must outlive its nodes
  const auto found = names->find(text);
  if (found != names->end()) return found->second;
  const auto place = names->emplace(text, autograd::NodeName("")).first;
  place->second = autograd::NodeName(place->first);
  return place->second;
}

class PythonNode final : public autograd::Node {
 public:
  PythonNode(const std::string& name, PyObject* backward, std::shared_ptr<SavedTensors> saved)
      : name_(python::node_name(name)), backward_(backward), saved_(std::move(saved)) {
    saved_->owner = this;
  }
  ~PythonNode() override { saved_->owner = nullptr; }
  const autograd::NodeName& node_name() const override { return name_; }
  void release_variables() override {
    for (autograd::SavedVariable& variable : saved_->variables) variable.release();
  }

 protected:
  // Calls backward(*gradients), which gives one gradient or None for each tensor argument of forward.
  TensorVector apply(TensorVector&& inputs) override {
    const HeldGil gil;
    nb::list gradients;
    for (const Tensor& input : inputs) gradients.append(nb::steal(checked(wrap(input))));
    const nb::object result = nb::steal(checked(PyObject_CallObject(backward_.get(), nb::tuple(gradients).ptr())));
    TensorVector grads;
    for (nb::handle item : result) grads.push_back(item.is_none() ? Tensor() : unwrap(item.ptr()));
    return grads;
  }

 private:
  const autograd::NodeName& name_;
  ForeignReference backward_;
  std::shared_ptr<SavedTensors> saved_;
};

// The tensors that a forward returned, made results of a node. `dirty` were changed in place; `plain` do not carry gradients.
nb::tuple connect(const std::string& name, nb::callable backward, nb::handle inputs, nb::handle outputs, nb::handle dirty, nb::handle plain,
                  nb::handle to_save, std::shared_ptr<SavedTensors> saved) {
  const auto has = [](nb::handle list, const Tensor& tensor) {
    for (nb::handle item : list)
      if (is_tensor(item.ptr()) && unwrap(item.ptr()).is_same(tensor)) return true;
    return false;
  };
  auto node = make_intrusive<PythonNode>(name, backward.ptr(), saved);
  for (nb::handle input : inputs) node->add_next_edge(autograd::gradient_edge(unwrap(input.ptr())));
  nb::list results;
  for (nb::handle item : outputs) {
    Tensor output = unwrap(item.ptr());
    if (has(dirty, output)) {
      autograd::rebase_history(output, node);
    } else {
      if (has(inputs, output)) output = output.detach();
      if (has(plain, output))
        node->add_input_metadata(output);
      else
        autograd::set_history(output, node);
    }
    results.append(nb::steal(checked(wrap(output))));
  }
  for (nb::handle item : to_save) {
    const Tensor tensor = item.is_none() ? Tensor() : unwrap(item.ptr());
    saved->variables.emplace_back(tensor, tensor.defined() && has(results, tensor));
  }
  return nb::tuple(results);
}

}  // namespace

void bind_autograd_function(nb::module_& module) {
  nb::class_<SavedTensors>(module, "SavedTensors")
      .def(nb::init<>())
      .def("unpack", &SavedTensors::unpack)
      .def("__len__", [](const SavedTensors& self) { return self.variables.size(); });
  module.def("connect_function", connect, nb::arg("name"), nb::arg("backward"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("dirty"),
             nb::arg("plain"), nb::arg("to_save"), nb::arg("saved"));
}

}  // namespace mindtorch::python

// The arithmetic of optimizers: Python's classes keep the groups and their options, the runtime's keep state and change parameters.
#include "runtime/python/src/optimizer.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "mindtorch/runtime/optim/optim.h"
#include "python/src/text.h"
#include "runtime/python/src/gil.h"
#include "runtime/python/src/python_error.h"
#include "runtime/python/src/tensor_object.h"

namespace mindtorch::python {

namespace {

using optim::Optimizer;
using Options = std::map<std::string, double>;

optim::OptionMap as_options(const Options& options) { return {options.begin(), options.end()}; }

// With its first group; the class's own defaults are never used, because Python gives every option.
std::unique_ptr<Optimizer> make_optimizer(const std::string& name, TensorVector params, const Options& options) {
  std::vector<optim::ParamGroup> groups = {{std::move(params), as_options(options)}};
  if (name == "SGD") return std::make_unique<optim::SGD>(std::move(groups));
  if (name == "Adam") return std::make_unique<optim::Adam>(std::move(groups));
  if (name == "AdamW") return std::make_unique<optim::AdamW>(std::move(groups));
  if (name == "RMSprop") return std::make_unique<optim::RMSprop>(std::move(groups));
  if (name == "Adagrad") return std::make_unique<optim::Adagrad>(std::move(groups));
  throw_error<InvalidArgument>("optim", "unknown optimizer '{}'", name);
}

// Options of all groups, as they are in Python's param_groups now.
void set_options(Optimizer& self, const std::vector<Options>& groups) {
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const auto& [name, value] : groups[g]) self.param_groups()[g].options[name] = value;
}

void step(Optimizer& self, const std::vector<Options>& groups) {
  set_options(self, groups);
  const ReleasedGil released;
  self.step();
}

// {number of parameter: (steps, {name: tensor})}; the tensors share memory with the optimizer's.
nb::dict state(const Optimizer& self) {
  nb::dict all;
  for (const auto& [number, own] : self.state_dict().state) {
    nb::dict tensors;
    for (const auto& [name, tensor] : own.tensors) tensors[name.c_str()] = nb::steal(checked(wrap(tensor)));
    all[nb::int_(number)] = nb::make_tuple(own.step, tensors);
  }
  return all;
}

void load_state(Optimizer& self, nb::dict given) {
  optim::OptimizerStateDict dict = self.state_dict();
  dict.state.clear();
  for (auto [number, own] : given) {
    optim::ParamState& target = dict.state[nb::cast<std::int64_t>(number)];
    target.step = nb::cast<std::int64_t>(own[0]);
    for (auto [name, tensor] : nb::cast<nb::dict>(own[1])) target.tensors[nb::cast<std::string>(name)] = nb::cast<Tensor>(tensor);
  }
  self.load_state_dict(dict);
}

}  // namespace

void bind_optimizer(nb::module_& module) {
  nb::class_<Optimizer>(module, "OptimizerCore")
      .def(
          "add_param_group",
          [](Optimizer& self, TensorVector params, const Options& options) {
            self.add_param_group({std::move(params), as_options(options)});
          },
          nb::arg("params"), nb::arg("options"))
      .def("step", step, nb::arg("options"))
      .def("zero_grad", &Optimizer::zero_grad, nb::arg("set_to_none"))
      .def("state", state)
      .def("load_state", load_state, nb::arg("state"));
  module.def(
      "clip_grad_norm_",
      [](const TensorVector& parameters, double max_norm, double norm_type, bool error_if_nonfinite) {
        return optim::clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite);
      },
      nb::arg("parameters"), nb::arg("max_norm"), nb::arg("norm_type"), nb::arg("error_if_nonfinite"));
  module.def(
      "find_invalid_option",
      [](const Options& options) -> nb::object {
        const auto invalid = optim::find_invalid_option(as_options(options));
        return invalid ? nb::object(nb::make_tuple(invalid->problem, invalid->name)) : nb::none();
      },
      nb::arg("options"));
  module.def("make_optimizer", make_optimizer, nb::arg("name"), nb::arg("params"), nb::arg("options"));
}

}  // namespace mindtorch::python

// Adagrad.
#include "mindtorch/runtime/optim/adagrad.h"

#include "mindtorch/runtime/functions.h"

namespace mindtorch::optim {

Adagrad::Adagrad(std::vector<ParamGroup> groups, const AdagradOptions& o)
    : Optimizer("Adagrad", std::move(groups),
                {{"lr", o.lr},
                 {"lr_decay", o.lr_decay},
                 {"weight_decay", o.weight_decay},
                 {"initial_accumulator_value", o.initial_accumulator_value},
                 {"eps", o.eps},
                 {"maximize", o.maximize}}) {}

void Adagrad::update(const OptionMap& options, const Tensor& param, const Tensor& raw_grad, ParamState& state) {
  const Tensor grad = adjusted_gradient(options, param, raw_grad);
  const Tensor sum = state_tensor(state, "sum", [&] { return full_like(param, options.at("initial_accumulator_value")); });
  sum.addcmul_(grad, grad);
  const double lr = options.at("lr") / (1 + static_cast<double>(state.step - 1) * options.at("lr_decay"));
  param.addcdiv_(grad, sum.sqrt().add_(options.at("eps")), -lr);
}

}  // namespace mindtorch::optim

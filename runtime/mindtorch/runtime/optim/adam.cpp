// Adam and AdamW.
#include "mindtorch/runtime/optim/adam.h"

#include <cmath>

#include "mindtorch/runtime/functions.h"

namespace mindtorch::optim {

Adam::Adam(std::string_view name, std::vector<ParamGroup> groups, const AdamOptions& o)
    : Optimizer(name, std::move(groups),
                {{"lr", o.lr},
                 {"beta1", o.beta1},
                 {"beta2", o.beta2},
                 {"eps", o.eps},
                 {"weight_decay", o.weight_decay},
                 {"amsgrad", o.amsgrad},
                 {"maximize", o.maximize}}) {}

void Adam::update(const OptionMap& options, const Tensor& param, const Tensor& grad, ParamState& state) {
  move(options, param, adjusted_gradient(options, param, grad), state);
}

void Adam::move(const OptionMap& options, const Tensor& param, const Tensor& grad, ParamState& state) {
  const double beta1 = options.at("beta1"), beta2 = options.at("beta2");
  const auto make = [&] { return zeros_like(param); };
  const Tensor average = state_tensor(state, "exp_avg", make), square = state_tensor(state, "exp_avg_sq", make);
  average.lerp_(grad, 1 - beta1);
  square.mul_(beta2).addcmul_(grad, grad, 1 - beta2);
  Tensor largest = square;
  if (options.at("amsgrad") != 0) {
    largest = state_tensor(state, "max_exp_avg_sq", make);
    largest.copy_(maximum(largest, square));
  }
  // The averages start from zero. The correction removes that bias from early steps.
  const auto steps = static_cast<double>(state.step);
  const double correction1 = 1 - std::pow(beta1, steps), correction2 = 1 - std::pow(beta2, steps);
  const Tensor divisor = largest.sqrt().div_(std::sqrt(correction2)).add_(options.at("eps"));
  param.addcdiv_(average, divisor, -options.at("lr") / correction1);
}

AdamW::AdamW(std::vector<ParamGroup> groups, const AdamWOptions& o)
    : Adam("AdamW", std::move(groups), AdamOptions{o.lr, o.beta1, o.beta2, o.eps, o.weight_decay, o.amsgrad, o.maximize}) {}

void AdamW::update(const OptionMap& options, const Tensor& param, const Tensor& grad, ParamState& state) {
  if (const double decay = options.at("weight_decay"); decay != 0) param.mul_(1 - options.at("lr") * decay);
  move(options, param, options.at("maximize") != 0 ? grad.neg() : grad, state);
}

}  // namespace mindtorch::optim

// RMSprop.
#include "mindtorch/runtime/optim/rmsprop.h"

#include "mindtorch/runtime/functions.h"

namespace mindtorch::optim {

RMSprop::RMSprop(std::vector<ParamGroup> groups, const RMSpropOptions& o)
    : Optimizer("RMSprop", std::move(groups),
                {{"lr", o.lr},
                 {"alpha", o.alpha},
                 {"eps", o.eps},
                 {"weight_decay", o.weight_decay},
                 {"momentum", o.momentum},
                 {"centered", o.centered},
                 {"maximize", o.maximize}}) {}

void RMSprop::update(const OptionMap& options, const Tensor& param, const Tensor& raw_grad, ParamState& state) {
  const Tensor grad = adjusted_gradient(options, param, raw_grad);
  const double alpha = options.at("alpha"), lr = options.at("lr"), momentum = options.at("momentum");
  const auto make = [&] { return zeros_like(param); };
  const Tensor square = state_tensor(state, "square_avg", make);
  square.mul_(alpha).addcmul_(grad, grad, 1 - alpha);
  Tensor divisor;
  if (options.at("centered") != 0) {
    const Tensor average = state_tensor(state, "grad_avg", make);
    average.lerp_(grad, 1 - alpha);
    divisor = addcmul(square, average, average, -1).sqrt_().add_(options.at("eps"));
  } else {
    divisor = square.sqrt().add_(options.at("eps"));
  }
  if (momentum > 0) {
    const Tensor buffer = state_tensor(state, "momentum_buffer", make);
    buffer.mul_(momentum).addcdiv_(grad, divisor);
    param.add_(buffer, -lr);
  } else {
    param.addcdiv_(grad, divisor, -lr);
  }
}

}  // namespace mindtorch::optim

// Stochastic gradient descent.
#include "mindtorch/runtime/optim/sgd.h"

#include "mindtorch/runtime/functions.h"

namespace mindtorch::optim {

SGD::SGD(std::vector<ParamGroup> groups, const SGDOptions& o)
    : Optimizer("SGD", std::move(groups),
                {{"lr", o.lr},
                 {"momentum", o.momentum},
                 {"dampening", o.dampening},
                 {"weight_decay", o.weight_decay},
                 {"nesterov", o.nesterov},
                 {"maximize", o.maximize}}) {}

void SGD::update(const OptionMap& options, const Tensor& param, const Tensor& grad, ParamState& state) {
  Tensor step = adjusted_gradient(options, param, grad);
  if (const double momentum = options.at("momentum"); momentum != 0) {
    bool is_first = false;
    const Tensor buffer = state_tensor(state, "momentum_buffer", [&] {
      is_first = true;
      return step.detach().clone();
    });
    if (!is_first) buffer.mul_(momentum).add_(step, 1 - options.at("dampening"));  // the first gradient is taken undamped
    step = options.at("nesterov") != 0 ? step.add(buffer, momentum) : buffer;
  }
  param.add_(step, -options.at("lr"));
}

}  // namespace mindtorch::optim

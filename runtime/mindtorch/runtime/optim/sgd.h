// Stochastic gradient descent.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/optim/optimizer.h"

namespace mindtorch::optim {

struct SGDOptions {
  double lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false, maximize = false;
};

class MINDTORCH_EXPORT SGD : public Optimizer {
 public:
  SGD(TensorVector params, const SGDOptions& options = {}) : SGD(std::vector<ParamGroup>{{std::move(params)}}, options) {}
  SGD(std::vector<ParamGroup> groups, const SGDOptions& options = {});

 protected:
  void update(const OptionMap& options, const Tensor& param, const Tensor& grad, ParamState& state) override;
};

}  // namespace mindtorch::optim

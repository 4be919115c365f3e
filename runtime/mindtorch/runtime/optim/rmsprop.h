// RMSprop.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/optim/optimizer.h"

namespace mindtorch::optim {

struct RMSpropOptions {
  double lr = 1e-2, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0;
  bool centered = false, maximize = false;
};

class MINDTORCH_EXPORT RMSprop : public Optimizer {
 public:
  RMSprop(TensorVector params, const RMSpropOptions& options = {}) : RMSprop(std::vector<ParamGroup>{{std::move(params)}}, options) {}
  RMSprop(std::vector<ParamGroup> groups, const RMSpropOptions& options = {});

 protected:
  void update(const OptionMap& options, const Tensor& param, const Tensor& grad, ParamState& state) override;
};

}  // namespace mindtorch::optim

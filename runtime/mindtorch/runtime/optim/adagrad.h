// Adagrad.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/optim/optimizer.h"

namespace mindtorch::optim {

struct AdagradOptions {
  double lr = 1e-2, lr_decay = 0, weight_decay = 0, initial_accumulator_value = 0, eps = 1e-10;
  bool maximize = false;
};

class MINDTORCH_EXPORT Adagrad : public Optimizer {
 public:
  Adagrad(TensorVector params, const AdagradOptions& options = {}) : Adagrad(std::vector<ParamGroup>{{std::move(params)}}, options) {}
  Adagrad(std::vector<ParamGroup> groups, const AdagradOptions& options = {});

 protected:
  void update(const OptionMap& options, const Tensor& param, const Tensor& grad, ParamState& state) override;
};

}  // namespace mindtorch::optim

// Adam and AdamW.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/optim/optimizer.h"

namespace mindtorch::optim {

struct AdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool amsgrad = false, maximize = false;
};

// Weight decay is part of the gradient.
class MINDTORCH_EXPORT Adam : public Optimizer {
 public:
  Adam(TensorVector params, const AdamOptions& options = {}) : Adam(std::vector<ParamGroup>{{std::move(params)}}, options) {}
  Adam(std::vector<ParamGroup> groups, const AdamOptions& options = {}) : Adam("Adam", std::move(groups), options) {}

 protected:
  Adam(std::string_view name, std::vector<ParamGroup> groups, const AdamOptions& options);
  void update(const OptionMap& options, const Tensor& param, const Tensor& grad, ParamState& state) override;
  // The step after weight decay was applied.
  static void move(const OptionMap& options, const Tensor& param, const Tensor& grad, ParamState& state);
};

struct AdamWOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 1e-2;
  bool amsgrad = false, maximize = false;
};

// Weight decay is applied to the parameter directly.
class MINDTORCH_EXPORT AdamW : public Adam {
 public:
  AdamW(TensorVector params, const AdamWOptions& options = {}) : AdamW(std::vector<ParamGroup>{{std::move(params)}}, options) {}
  AdamW(std::vector<ParamGroup> groups, const AdamWOptions& options = {});

 protected:
  void update(const OptionMap& options, const Tensor& param, const Tensor& grad, ParamState& state) override;
};

}  // namespace mindtorch::optim

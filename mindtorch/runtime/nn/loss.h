// Losses as modules, called with (input, target).
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/nn/module.h"

namespace mindtorch::nn {

class MINDTORCH_EXPORT Loss : public Module {
 public:
  using Module::forward;
  virtual Tensor forward(const Tensor& input, const Tensor& target) = 0;
  Tensor operator()(const Tensor& input, const Tensor& target) {
    return call({input, target}, [this](const TensorVector& inputs) { return forward(inputs[0], inputs[1]); });
  }
};

class MINDTORCH_EXPORT MSELoss : public Loss {
 public:
  explicit MSELoss(Reduction reduction = Reduction::kMean) : reduction_(reduction) {}
  Tensor forward(const Tensor& input, const Tensor& target) override { return mse_loss(input, target, reduction_); }

 private:
  Reduction reduction_;
};

class MINDTORCH_EXPORT L1Loss : public Loss {
 public:
  explicit L1Loss(Reduction reduction = Reduction::kMean) : reduction_(reduction) {}
  Tensor forward(const Tensor& input, const Tensor& target) override { return l1_loss(input, target, reduction_); }

 private:
  Reduction reduction_;
};

class MINDTORCH_EXPORT SmoothL1Loss : public Loss {
 public:
  explicit SmoothL1Loss(Reduction reduction = Reduction::kMean, double beta = 1) : reduction_(reduction), beta_(beta) {}
  Tensor forward(const Tensor& input, const Tensor& target) override { return smooth_l1_loss(input, target, reduction_, beta_); }

 private:
  Reduction reduction_;
  double beta_;
};

struct ClassificationLossOptions {
  Tensor weight = {};
  Reduction reduction = Reduction::kMean;
  std::int64_t ignore_index = -100;
  double label_smoothing = 0;  // cross entropy only
};

class MINDTORCH_EXPORT NLLLoss : public Loss {
 public:
  explicit NLLLoss(const ClassificationLossOptions& options = {}) : options_(options) { register_buffer("weight", options_.weight); }
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return nll_loss(input, target, options_.weight, options_.reduction, options_.ignore_index);
  }

 private:
  ClassificationLossOptions options_;
};

class MINDTORCH_EXPORT CrossEntropyLoss : public Loss {
 public:
  explicit CrossEntropyLoss(const ClassificationLossOptions& options = {}) : options_(options) {
    register_buffer("weight", options_.weight);
  }
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return cross_entropy(input, target, options_.weight, options_.reduction, options_.ignore_index, options_.label_smoothing);
  }

 private:
  ClassificationLossOptions options_;
};

class MINDTORCH_EXPORT BCEWithLogitsLoss : public Loss {
 public:
  explicit BCEWithLogitsLoss(Tensor weight = {}, Tensor pos_weight = {}, Reduction reduction = Reduction::kMean)
      : weight_(register_buffer("weight", std::move(weight))),
        pos_weight_(register_buffer("pos_weight", std::move(pos_weight))),
        reduction_(reduction) {}
  Tensor forward(const Tensor& input, const Tensor& target) override {
    return binary_cross_entropy_with_logits(input, target, weight_, pos_weight_, reduction_);
  }

 private:
  Tensor weight_, pos_weight_;
  Reduction reduction_;
};

}  // namespace mindtorch::nn

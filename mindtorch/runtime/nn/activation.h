// Modules without parameters: activations, Dropout, Flatten.
#pragma once

#include <string>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/nn/module.h"

namespace mindtorch::nn {

class MINDTORCH_EXPORT ReLU : public Module {
 public:
  Tensor forward(const Tensor& input) override { return relu(input); }
};

class MINDTORCH_EXPORT GELU : public Module {
 public:
  explicit GELU(std::string approximate = "none") : approximate_(std::move(approximate)) {}
  Tensor forward(const Tensor& input) override { return gelu(input, approximate_); }

 private:
  std::string approximate_;
};

class MINDTORCH_EXPORT SiLU : public Module {
 public:
  Tensor forward(const Tensor& input) override { return silu(input); }
};

class MINDTORCH_EXPORT LeakyReLU : public Module {
 public:
  explicit LeakyReLU(double negative_slope = 0.01) : negative_slope_(negative_slope) {}
  Tensor forward(const Tensor& input) override { return leaky_relu(input, negative_slope_); }

 private:
  double negative_slope_;
};

class MINDTORCH_EXPORT ELU : public Module {
 public:
  explicit ELU(double alpha = 1) : alpha_(alpha) {}
  Tensor forward(const Tensor& input) override { return elu(input, alpha_); }

 private:
  double alpha_;
};

class MINDTORCH_EXPORT Softplus : public Module {
 public:
  explicit Softplus(double beta = 1, double threshold = 20) : beta_(beta), threshold_(threshold) {}
  Tensor forward(const Tensor& input) override { return softplus(input, beta_, threshold_); }

 private:
  double beta_, threshold_;
};

class MINDTORCH_EXPORT Tanh : public Module {
 public:
  Tensor forward(const Tensor& input) override { return tanh(input); }
};

class MINDTORCH_EXPORT Sigmoid : public Module {
 public:
  Tensor forward(const Tensor& input) override { return sigmoid(input); }
};

class MINDTORCH_EXPORT Softmax : public Module {
 public:
  explicit Softmax(std::int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& input) override { return softmax(input, dim_); }

 private:
  std::int64_t dim_;
};

class MINDTORCH_EXPORT LogSoftmax : public Module {
 public:
  explicit LogSoftmax(std::int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& input) override { return log_softmax(input, dim_); }

 private:
  std::int64_t dim_;
};

// Sets elements to 0 with probability p while training, and scales the others up by 1 / (1 - p).
class MINDTORCH_EXPORT Dropout : public Module {
 public:
  explicit Dropout(double p = 0.5) : p_(p) {
    if (!(p >= 0 && p <= 1)) throw_error<InvalidArgument>("nn.Dropout", "dropout probability has to be between 0 and 1, but got {}", p);
  }
  Tensor forward(const Tensor& input) override { return dropout(input, p_, is_training()); }

 private:
  double p_;
};

class MINDTORCH_EXPORT Flatten : public Module {
 public:
  explicit Flatten(std::int64_t start_dim = 1, std::int64_t end_dim = -1) : start_dim_(start_dim), end_dim_(end_dim) {}
  Tensor forward(const Tensor& input) override { return flatten(input, start_dim_, end_dim_); }

 private:
  std::int64_t start_dim_, end_dim_;
};

class MINDTORCH_EXPORT Identity : public Module {
 public:
  Tensor forward(const Tensor& input) override { return input; }
};

}  // namespace mindtorch::nn

// gradcheck: compares the gradients of a function with finite differences. Inputs are float64 tensors that require a gradient.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "mindtorch/runtime/autograd/engine.h"
#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/functions.h"

namespace mindtorch::testing {

using DifferentiableFunction = std::function<Tensor(const TensorVector&)>;

// Weights the elements of an output differently, so that errors cannot cancel: the scalar that is differentiated.
inline Tensor weighted_sum(const Tensor& output) {
  std::vector<double> weights(static_cast<std::size_t>(output.numel()));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 0.5 + 0.3 * std::cos(1.7 * static_cast<double>(i));
  return (output * tensor<double>(weights, output.sizes(), {.dtype = kFloat64, .device = output.device()})).sum();
}

// The derivative of `f` with respect to element `at` of `input`, by central differences. Writes to the input's memory, in whatever strides
// it has.
inline double numeric_derivative(const std::function<double()>& f, const Tensor& input, std::int64_t at, double step) {
  NoGradGuard no_grad;
  std::int64_t offset = 0;
  for (std::int64_t d = input.dim() - 1, rest = at; d >= 0; --d) {
    offset += rest % input.sizes()[d] * input.strides()[d];
    rest /= input.sizes()[d];
  }
  const Tensor element = input.detach().as_strided({}, {}, input.storage_offset() + offset);
  const double value = element.item<double>();
  element.fill_(value + step);
  const double above = f();
  element.fill_(value - step);
  const double below = f();
  element.fill_(value);
  return (above - below) / (2 * step);
}

struct GradcheckOptions {
  double step = 1e-6;
  double tolerance = 1e-5;  // relative to max(1, |derivative|)
  bool second_order = true;
};

inline ::testing::AssertionResult compare_gradients(const std::function<Tensor()>& scalar, const TensorVector& inputs,
                                                    const TensorVector& grads, const GradcheckOptions& options, const char* what) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<double> analytic =
        grads[i].defined() ? grads[i].to_vector<double>() : std::vector<double>(static_cast<std::size_t>(inputs[i].numel()), 0.0);
    if (grads[i].defined() && grads[i].sizes() != inputs[i].sizes())
      return ::testing::AssertionFailure() << what << ": gradient of input " << i << " has sizes " << to_string(grads[i].sizes())
                                           << ", expected " << to_string(inputs[i].sizes());
    for (std::int64_t e = 0; e < inputs[i].numel(); ++e) {
      const double numeric = numeric_derivative([&] { return scalar().item<double>(); }, inputs[i], e, options.step);
      const double error = std::abs(numeric - analytic[static_cast<std::size_t>(e)]);
      if (!(error <= options.tolerance * std::max(1.0, std::abs(numeric))))
        return ::testing::AssertionFailure() << what << ": derivative of input " << i << " at element " << e << " is "
                                             << analytic[static_cast<std::size_t>(e)] << ", finite differences give " << numeric;
    }
  }
  return ::testing::AssertionSuccess();
}

// EXPECT_TRUE(gradcheck([](const TensorVector& in) { return in[0] * in[1]; }, {a, b})): first derivatives, and second ones unless switched
// off.
inline ::testing::AssertionResult gradcheck(const DifferentiableFunction& function, const TensorVector& inputs,
                                            const GradcheckOptions& options = {}) {
  const auto scalar = [&] { return weighted_sum(function(inputs)); };
  const bool twice = options.second_order;
  const TensorVector grads = autograd::grad(scalar(), inputs, {}, std::nullopt, twice, true);
  if (auto result = compare_gradients(scalar, inputs, grads, options, "first order"); !result) return result;
  if (!twice) return ::testing::AssertionSuccess();

  const auto gradient_scalar = [&] {
    EnableGradGuard grad_mode;
    Tensor total = zeros({}, {.dtype = kFloat64, .device = inputs[0].device()});
    const TensorVector first = autograd::grad(scalar(), inputs, {}, std::nullopt, true, true);
    for (const Tensor& grad : first)
      if (grad.defined()) total = total + weighted_sum(grad);
    return total;
  };
  const Tensor of_gradients = gradient_scalar();
  if (!of_gradients.requires_grad()) return ::testing::AssertionSuccess();  // linear: nothing to differentiate again
  const TensorVector second = autograd::grad(of_gradients, inputs, {}, std::nullopt, false, true);
  GradcheckOptions looser = options;
  looser.tolerance = options.tolerance * 10;
  return compare_gradients(gradient_scalar, inputs, second, looser, "second order");
}

// A float64 tensor with values in (low, high) that requires a gradient; the same for the same seed.
inline Tensor gradcheck_input(IntArrayRef sizes, std::uint64_t seed = 0, double low = -1, double high = 1) {
  std::vector<double> values(static_cast<std::size_t>(checked_numel(sizes)));
  std::uint64_t state = seed * 0x9E3779B97F4A7C15ull + 0x1234567;
  for (double& value : values) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    value = low + (high - low) * (static_cast<double>(state >> 11) / 9007199254740992.0);
  }
  return tensor<double>(values, sizes, {.dtype = kFloat64, .requires_grad = true});
}

}  // namespace mindtorch::testing

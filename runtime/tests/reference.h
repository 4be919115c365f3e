// What the tests of ops share: inputs in several layouts, comparison with references computed in double, and both ways of differentiating.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "mindtorch/runtime/autograd/node.h"
#include "mindtorch/runtime/functions.h"
#include "runtime/tests/gradcheck.h"

namespace mindtorch::testing {

// The same values in memory of another order: what a transposed tensor looks like.
inline Tensor strided_copy(const Tensor& tensor) {
  if (tensor.dim() < 2) return tensor;
  NoGradGuard no_grad;
  return tensor.detach().transpose(0, -1).contiguous().transpose(0, -1);
}

// Values in (low, high), the same for the same seed; contiguous or not.
inline Tensor test_input(IntArrayRef sizes, ScalarType type = kFloat32, std::uint64_t seed = 1, double low = -2, double high = 2) {
  return gradcheck_input(sizes, seed, low, high).detach().to(type);
}

// `actual` has these values, row by row; the error is relative to max(1, |value|).
inline ::testing::AssertionResult is_close(const Tensor& actual, const std::vector<double>& expected, double tolerance) {
  const std::vector<double> values = actual.to_vector<double>();
  if (values.size() != expected.size())
    return ::testing::AssertionFailure() << values.size() << " values of sizes " << to_string(actual.sizes()) << ", expected "
                                         << expected.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool same = values[i] == expected[i] || (std::isnan(values[i]) && std::isnan(expected[i]));
    if (!same && !(std::abs(values[i] - expected[i]) <= tolerance * std::max(1.0, std::abs(expected[i]))))
      return ::testing::AssertionFailure() << "element " << i << " is " << values[i] << ", expected " << expected[i];
  }
  return ::testing::AssertionSuccess();
}

inline double tolerance_of(ScalarType type) { return type == kFloat64 ? 1e-12 : 2e-6; }

// Checks a function of one tensor against `reference`, a function of its values and sizes, in float32 and float64, contiguous and strided.
using Reference = std::function<std::vector<double>(const std::vector<double>&, IntArrayRef)>;
inline void expect_matches(const std::function<Tensor(const Tensor&)>& function, const Reference& reference, IntArrayRef sizes,
                           double low = -2, double high = 2) {
  for (const ScalarType type : {kFloat32, kFloat64}) {
    const Tensor input = test_input(sizes, type, 1, low, high);
    const std::vector<double> expected = reference(input.to_vector<double>(), sizes);
    EXPECT_TRUE(is_close(function(input), expected, tolerance_of(type))) << dtype_name(type) << " " << to_string(sizes);
    EXPECT_TRUE(is_close(function(strided_copy(input)), expected, tolerance_of(type)))
        << "strided " << dtype_name(type) << " " << to_string(sizes);
  }
}

// Gradients of the kernels of the backward pass (first order only), then of what they are made of when they are differentiated again.
inline ::testing::AssertionResult gradcheck_twice(const DifferentiableFunction& function, const TensorVector& inputs,
                                                  GradcheckOptions options = {}) {
  GradcheckOptions first = options;
  first.second_order = false;
  if (auto result = gradcheck(function, inputs, first); !result) return result << " (without create_graph)";
  return gradcheck(function, inputs, options);
}

inline std::string node_name(const Tensor& tensor) { return std::string(tensor.grad_fn()->name()); }

// The text of the exception that `f` throws.
template <class E = Error, class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace mindtorch::testing

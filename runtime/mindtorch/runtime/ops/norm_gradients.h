// The gradients of normalisation, written with ordinary ops. Slower than the kernels, but they can be differentiated again: the formulas of
// the norms use them when a graph of the backward pass is asked for.
#pragma once

#include "mindtorch/runtime/functions.h"

namespace mindtorch {

struct NormGradients {
  Tensor input;   // of the shape of x
  Tensor weight;  // not yet summed: of the shape of x
};

// Of y = (x - mean) * rstd * weight, where mean and rstd are taken over `dims` of x; without a mean if not `centred`. `weight` may be
// undefined and broadcasts to x.
inline NormGradients differentiable_norm_gradients(const Tensor& grad, const Tensor& x, const Tensor& weight, IntArrayRef dims, double eps,
                                                   bool centred = true) {
  const Tensor difference = centred ? x - x.mean(dims, true) : x;
  const Tensor rstd = ((difference * difference).mean(dims, true) + eps).rsqrt();
  const Tensor normalised = difference * rstd;
  const Tensor weighted = weight.defined() ? grad * weight : grad;
  const Tensor rest = weighted - normalised * (weighted * normalised).mean(dims, true);
  return {rstd * (centred ? rest - weighted.mean(dims, true) : rest), grad * normalised};
}

}  // namespace mindtorch

// Clips gradients.
#include "mindtorch/runtime/optim/clip_grad.h"

#include <cmath>

#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/functions.h"

namespace mindtorch::optim {

Tensor clip_grad_norm_(TensorList parameters, double max_norm, double norm_type, bool error_if_nonfinite) {
  NoGradGuard no_grad;
  TensorVector grads, norms;
  for (const Tensor& parameter : parameters)
    if (parameter.grad().defined()) grads.push_back(parameter.grad());
  if (grads.empty()) return zeros({});
  const Device place = grads[0].device();
  for (const Tensor& grad : grads) norms.push_back(norm(grad, norm_type).to(place));
  const Tensor total = norm(stack(norms), norm_type);
  if (error_if_nonfinite && !std::isfinite(total.item<double>()))
    throw_error("nn.clip_grad_norm_",
                "The total norm of order {} for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error "
                "and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`",
                norm_type);
  // Multiplies in any case, so that the host does not wait for the device.
  const Tensor factor = ((total + 1e-6).reciprocal() * max_norm).clamp(std::nullopt, 1.0);
  for (const Tensor& grad : grads) grad.mul_(factor.to(grad.device()));
  return total;
}

}  // namespace mindtorch::optim

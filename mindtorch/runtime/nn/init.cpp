// Initial values of parameters.
#include "mindtorch/runtime/nn/init.h"

#include <cmath>

#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/functions.h"

namespace mindtorch::nn::init {

Tensor uniform_(const Tensor& tensor, double low, double high) {
  NoGradGuard no_grad;
  return tensor.uniform_(low, high);
}

Tensor normal_(const Tensor& tensor, double mean, double std) {
  NoGradGuard no_grad;
  return tensor.normal_(mean, std);
}

Tensor constant_(const Tensor& tensor, double value) {
  NoGradGuard no_grad;
  return tensor.fill_(value);
}

Tensor zeros_(const Tensor& tensor) { return constant_(tensor, 0); }
Tensor ones_(const Tensor& tensor) { return constant_(tensor, 1); }

Fans fans_of(const Tensor& tensor) {
  if (tensor.dim() < 2)
    throw_error<InvalidArgument>("nn.init", "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, got sizes {}",
                                 to_string(tensor.sizes()));
  std::int64_t receptive_field = 1;
  for (std::int64_t d = 2; d < tensor.dim(); ++d) receptive_field *= tensor.size(d);
  return {tensor.size(1) * receptive_field, tensor.size(0) * receptive_field};
}

double calculate_gain(Nonlinearity nonlinearity, double parameter) {
  switch (nonlinearity) {
    case Nonlinearity::kTanh: return 5.0 / 3;
    case Nonlinearity::kRelu: return std::sqrt(2.0);
    case Nonlinearity::kLeakyRelu: return std::sqrt(2 / (1 + parameter * parameter));
    case Nonlinearity::kLinear:
    case Nonlinearity::kSigmoid: break;
  }
  return 1;
}

namespace {

double xavier_std(const Tensor& tensor, double gain) {
  const Fans fans = fans_of(tensor);
  return gain * std::sqrt(2 / static_cast<double>(fans.in + fans.out));
}

double kaiming_std(const Tensor& tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  const Fans fans = fans_of(tensor);
  return calculate_gain(nonlinearity, a) / std::sqrt(static_cast<double>(mode == FanMode::kFanIn ? fans.in : fans.out));
}

// A uniform distribution has this standard deviation up to sqrt(3) times it.
Tensor uniform_of_std(const Tensor& tensor, double std) { return uniform_(tensor, -std::sqrt(3.0) * std, std::sqrt(3.0) * std); }

}  // namespace

Tensor xavier_uniform_(const Tensor& tensor, double gain) { return uniform_of_std(tensor, xavier_std(tensor, gain)); }
Tensor xavier_normal_(const Tensor& tensor, double gain) { return normal_(tensor, 0, xavier_std(tensor, gain)); }
Tensor kaiming_uniform_(const Tensor& tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  return uniform_of_std(tensor, kaiming_std(tensor, a, mode, nonlinearity));
}
Tensor kaiming_normal_(const Tensor& tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  return normal_(tensor, 0, kaiming_std(tensor, a, mode, nonlinearity));
}

}  // namespace mindtorch::nn::init

// Kernels of losses.
#include "mindtorch/runtime/kernels/cpu/loss.h"

#include <cmath>

#include "mindtorch/runtime/kernels/cpu/loops.h"

namespace mindtorch::cpu {

namespace {

// Calls f(value, slope) with the two functions of the distance.
template <class T, class F>
void visit_distance_loss(const DistanceLoss& loss, const F& f) {
  if (!loss.smooth_l1) return f([](T d) { return d * d; }, [](T d) { return T{2} * d; });
  const T beta = static_cast<T>(loss.beta);
  if (beta == T{0}) return f([](T d) { return std::fabs(d); }, [](T d) { return static_cast<T>((d > T{0}) - (d < T{0})); });
  f(
      [beta](T d) {
        const T distance = std::fabs(d);
        return distance < beta ? T(0.5) * distance * distance / beta : distance - T(0.5) * beta;
      },
      [beta](T d) { return d <= -beta  ? T{-1}
                           : d >= beta ? T{1}
                                       : d / beta; });
}

// f(position in targets, position in scores, weight) for each target that counts.
template <class T, class F>
void each_target(const NllShape& shape, const std::int64_t* target, const void* weight, const F& f) {
  for (std::int64_t n = 0; n < shape.batch; ++n)
    for (std::int64_t s = 0; s < shape.inner; ++s) {
      const std::int64_t position = n * shape.inner + s, label = target[position];
      if (label == shape.ignore_index) continue;
      if (label < 0 || label >= shape.classes)
        throw_error<OutOfRange>("aten::nll_loss", "Target {} is out of bounds: there are {} classes", label, shape.classes);
      f(position, (n * shape.classes + label) * shape.inner + s, weight != nullptr ? static_cast<const T*>(weight)[label] : T{1});
    }
}

}  // namespace

void distance_loss(ScalarType type, const LoopPlan<3>& plan, const DistanceLoss& loss) {
  visit_floating_types(type, "aten::mse_loss", [&]<class T>() {
    visit_distance_loss<T>(loss, [&](const auto& value, const auto&) { map_binary<T, T>(plan, [&](T x, T y) { return value(x - y); }); });
  });
}

void distance_loss_backward(ScalarType type, const LoopPlan<3>& plan, const DistanceLoss& loss, double factor, const void* grad) {
  visit_floating_types(type, "aten::mse_loss_backward", [&]<class T>() {
    const T scale = static_cast<T>(factor) * *static_cast<const T*>(grad);
    visit_distance_loss<T>(loss,
                           [&](const auto&, const auto& slope) { map_binary<T, T>(plan, [&](T x, T y) { return scale * slope(x - y); }); });
  });
}

void distance_loss_backward_each(ScalarType type, const LoopPlan<4>& plan, const DistanceLoss& loss, double factor) {
  visit_floating_types(type, "aten::mse_loss_backward", [&]<class T>() {
    const T scale = static_cast<T>(factor);
    visit_distance_loss<T>(loss, [&](const auto&, const auto& slope) {
      map_ternary<T, T, T, T>(plan, [&](T grad, T x, T y) { return scale * grad * slope(x - y); });
    });
  });
}

void nll_loss(const NllShape& shape, void* out, void* total_weight, const void* in, const std::int64_t* target, const void* weight) {
  visit_floating_types(shape.type, "aten::nll_loss", [&]<class T>() {
    const bool each = shape.reduction == NllShape::Reduction::kNone;
    if (each) std::fill_n(static_cast<T*>(out), shape.batch * shape.inner, T{0});
    double sum = 0, total = 0;
    each_target<T>(shape, target, weight, [&](std::int64_t position, std::int64_t score, T factor) {
      const T loss = -factor * static_cast<const T*>(in)[score];
      if (each) static_cast<T*>(out)[position] = loss;
      sum += static_cast<double>(loss);
      total += static_cast<double>(factor);
    });
    *static_cast<T*>(total_weight) = each ? T{0} : static_cast<T>(total);
    if (!each) *static_cast<T*>(out) = static_cast<T>(shape.reduction == NllShape::Reduction::kMean ? sum / total : sum);
  });
}

void nll_loss_backward(const NllShape& shape, void* grad_in, const void* grad, const std::int64_t* target, const void* weight,
                       const void* total_weight) {
  visit_floating_types(shape.type, "aten::nll_loss_backward", [&]<class T>() {
    const bool each = shape.reduction == NllShape::Reduction::kNone;
    const T divisor = shape.reduction == NllShape::Reduction::kMean ? *static_cast<const T*>(total_weight) : T{1};
    each_target<T>(shape, target, weight, [&](std::int64_t position, std::int64_t score, T factor) {
      static_cast<T*>(grad_in)[score] = -factor * static_cast<const T*>(grad)[each ? position : 0] / divisor;
    });
  });
}

}  // namespace mindtorch::cpu

// Kernels of layer_norm and rms_norm.
#include "mindtorch/runtime/kernels/cpu/layer_norm.h"

#include <cmath>
#include <vector>

#include "mindtorch/runtime/kernels/cpu/lanes.h"
#include "mindtorch/runtime/kernels/cpu/vectorize.h"
#include "mindtorch/runtime/parallel.h"

namespace mindtorch::cpu {

namespace {

// Calls f with a function of the column: the weight there, or the constant 1.
template <class T, class F>
void with_weight(const T* weight, const F& f) {
  if (weight != nullptr)
    f([weight](std::int64_t c) { return weight[c]; });
  else
    f([](std::int64_t) { return T{1}; });
}

template <class T>
struct Moments {
  T mean, rstd;
};

template <class T>
Moments<T> row_moments(const T* in, std::int64_t width, T eps, bool centred) {
  const auto count = static_cast<T>(width);
  const T mean = centred ? lane_sum<T>(width, [&](std::int64_t c) { return in[c]; }) / count : T{0};
  const T squares = lane_sum<T>(width, [&](std::int64_t c) { return (in[c] - mean) * (in[c] - mean); });
  return {mean, T{1} / std::sqrt(squares / count + eps)};
}

template <class T, class Weight>
void normalise_row(T* out, const T* in, std::int64_t width, Moments<T> moments, const Weight& weight, const T* bias) {
  if (bias != nullptr) {
    MINDTORCH_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < width; ++c) out[c] = (in[c] - moments.mean) * moments.rstd * weight(c) + bias[c];
  } else {
    MINDTORCH_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < width; ++c) out[c] = (in[c] - moments.mean) * moments.rstd * weight(c);
  }
}

// rstd (g - mean(g) - x^ mean(g x^)) with g = grad * weight and x^ = (in - mean) rstd; without mean(g) if nothing was subtracted.
template <class T, class Weight>
void row_backward(T* grad_in, const T* grad, const T* in, std::int64_t width, Moments<T> moments, const Weight& weight, bool centred) {
  const auto [mean, rstd] = moments;
  const auto count = static_cast<T>(width);
  const T offset = centred ? lane_sum<T>(width, [&](std::int64_t c) { return grad[c] * weight(c); }) / count : T{0};
  const T slope = lane_sum<T>(width, [&, m = mean](std::int64_t c) { return grad[c] * weight(c) * (in[c] - m); }) * rstd * rstd / count;
  MINDTORCH_INDEPENDENT_ITERATIONS
  for (std::int64_t c = 0; c < width; ++c) grad_in[c] = rstd * (grad[c] * weight(c) - offset - (in[c] - mean) * slope);
}

template <class T>
void add_parameter_grads(T* weight, T* bias, const T* grad, const T* in, std::int64_t width, Moments<T> moments) {
  if (weight != nullptr) {
    MINDTORCH_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < width; ++c) weight[c] += grad[c] * (in[c] - moments.mean) * moments.rstd;
  }
  if (bias != nullptr) {
    MINDTORCH_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < width; ++c) bias[c] += grad[c];
  }
}

// Sums of `parts` rows of `width` elements.
template <class T>
void sum_parts(T* out, const T* parts, std::int64_t count, std::int64_t width) {
  std::fill(out, out + width, T{0});
  for (std::int64_t p = 0; p < count; ++p)
    for (std::int64_t c = 0; c < width; ++c) out[c] += parts[p * width + c];
}

}  // namespace

void layer_norm(const RowShape& shape, double eps, void* out, void* mean, void* rstd, const void* in, const void* weight,
                const void* bias) {
  visit_floating_types(shape.type, "aten::native_layer_norm", [&]<class T>() {
    const std::int64_t width = shape.width;
    parallel_for(0, shape.rows, kParallelGrain / (width + 1) + 1, [&](std::int64_t from, std::int64_t to) {
      with_weight(static_cast<const T*>(weight), [&](const auto& weight_at) {
        vectorized([&] {
          for (std::int64_t r = from; r < to; ++r) {
            const T* row = static_cast<const T*>(in) + r * width;
            const Moments<T> moments = row_moments(row, width, static_cast<T>(eps), mean != nullptr);
            if (mean != nullptr) static_cast<T*>(mean)[r] = moments.mean;
            static_cast<T*>(rstd)[r] = moments.rstd;
            normalise_row(static_cast<T*>(out) + r * width, row, width, moments, weight_at, static_cast<const T*>(bias));
          }
        });
      });
    });
  });
}

void layer_norm_backward(const RowShape& shape, const LayerNormGrads& grads, const void* grad, const void* in, const void* mean,
                         const void* rstd, const void* weight) {
  visit_floating_types(shape.type, "aten::native_layer_norm_backward", [&]<class T>() {
    const std::int64_t width = shape.width;
    // Rows are cut into parts that depend on the shape only; each part adds up its own gradients of the parameters.
    const std::int64_t parts = std::clamp<std::int64_t>(shape.rows * width / kParallelGrain, 1, 16);
    const std::int64_t rows_a_part = (shape.rows + parts - 1) / parts;
    std::vector<T> partial_weight(grads.weight != nullptr ? static_cast<std::size_t>(parts * width) : 0);
    std::vector<T> partial_bias(grads.bias != nullptr ? static_cast<std::size_t>(parts * width) : 0);
    parallel_for(0, parts, 1, [&](std::int64_t from, std::int64_t to) {
      with_weight(static_cast<const T*>(weight), [&](const auto& weight_at) {
        vectorized([&] {
          for (std::int64_t p = from; p < to; ++p) {
            T* part_weight = partial_weight.empty() ? nullptr : partial_weight.data() + p * width;
            T* part_bias = partial_bias.empty() ? nullptr : partial_bias.data() + p * width;
            for (std::int64_t r = p * rows_a_part; r < std::min(shape.rows, (p + 1) * rows_a_part); ++r) {
              const T* row_grad = static_cast<const T*>(grad) + r * width;
              const T* row_in = static_cast<const T*>(in) + r * width;
              const Moments<T> moments{mean != nullptr ? static_cast<const T*>(mean)[r] : T{0}, static_cast<const T*>(rstd)[r]};
              add_parameter_grads(part_weight, part_bias, row_grad, row_in, width, moments);
              if (grads.in != nullptr)
                row_backward(static_cast<T*>(grads.in) + r * width, row_grad, row_in, width, moments, weight_at, mean != nullptr);
            }
          }
        });
      });
    });
    if (grads.weight != nullptr) sum_parts(static_cast<T*>(grads.weight), partial_weight.data(), parts, width);
    if (grads.bias != nullptr) sum_parts(static_cast<T*>(grads.bias), partial_bias.data(), parts, width);
  });
}

}  // namespace mindtorch::cpu

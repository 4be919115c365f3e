// Kernels of batch_norm and group_norm. Both walk planes, the contiguous `inner` elements of one channel of one image, and differ in which
// planes share their moments.
#include "mindtorch/runtime/kernels/cpu/channel_norm.h"

#include <cmath>
#include <vector>

#include "mindtorch/runtime/kernels/cpu/lanes.h"
#include "mindtorch/runtime/kernels/cpu/vectorize.h"
#include "mindtorch/runtime/parallel.h"

namespace mindtorch::cpu {

namespace {

// ---- one plane ----

// Sums in double: planes are added up by the thousand.
template <class T>
double plane_sum(const T* in, std::int64_t n) {
  T sum = 0;
  vectorized([&] { sum = lane_sum<T>(n, [&](std::int64_t i) { return in[i]; }); });
  return static_cast<double>(sum);
}

template <class T>
double plane_squares(const T* in, std::int64_t n, T mean) {
  T sum = 0;
  vectorized([&] { sum = lane_sum<T>(n, [&](std::int64_t i) { return (in[i] - mean) * (in[i] - mean); }); });
  return static_cast<double>(sum);
}

template <class T>
double plane_products(const T* grad, const T* in, std::int64_t n, T mean) {
  T sum = 0;
  vectorized([&] { sum = lane_sum<T>(n, [&](std::int64_t i) { return grad[i] * (in[i] - mean); }); });
  return static_cast<double>(sum);
}

template <class T>
void plane_normalise(T* out, const T* in, std::int64_t n, T mean, T scale, T shift) {
  vectorized([&] {
    MINDTORCH_INDEPENDENT_ITERATIONS
    for (std::int64_t i = 0; i < n; ++i) out[i] = (in[i] - mean) * scale + shift;
  });
}

// grad_in = scale * grad - slope * (in - mean) - offset
template <class T>
struct PlaneBackward {
  T scale, slope, offset;
  void operator()(T* grad_in, const T* grad, const T* in, std::int64_t n, T mean) const {
    vectorized([&, factor = scale, tilt = slope, shift = offset] {
      MINDTORCH_INDEPENDENT_ITERATIONS
      for (std::int64_t i = 0; i < n; ++i) grad_in[i] = factor * grad[i] - tilt * (in[i] - mean) - shift;
    });
  }
};

// ---- planes that share moments ----

// The planes first, first + step, ... of a tensor.
struct Planes {
  std::int64_t first, step, count, inner;
  template <class F>
  void each(const F& f) const {
    for (std::int64_t p = 0; p < count; ++p) f((first + p * step) * inner);
  }
  double elements() const { return static_cast<double>(count * inner); }
};
Planes planes_of_channel(const ChannelShape& shape, std::int64_t channel) { return {channel, shape.channels, shape.batch, shape.inner}; }

struct Moments {
  double mean, var;
};
template <class T>
Moments moments_of(const Planes& planes, const T* in) {
  double sum = 0, squares = 0;
  planes.each([&](std::int64_t at) { sum += plane_sum(in + at, planes.inner); });
  const double mean = sum / planes.elements();
  planes.each([&](std::int64_t at) { squares += plane_squares(in + at, planes.inner, static_cast<T>(mean)); });
  return {mean, squares / planes.elements()};
}

template <class T>
T at_or(const void* values, std::int64_t i, T otherwise) {
  return values != nullptr ? static_cast<const T*>(values)[i] : otherwise;
}

template <class F>
void each_channel(const ChannelShape& shape, const F& f) {
  parallel_for(0, shape.channels, kParallelGrain / (shape.batch * shape.inner + 1) + 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t c = from; c < to; ++c) f(c);
  });
}

template <class T>
void normalise_channel(const ChannelShape& shape, std::int64_t channel, T* out, const T* in, const ChannelAffine& affine, double mean,
                       double rstd) {
  const T scale = static_cast<T>(rstd) * at_or<T>(affine.weight, channel, T{1}), shift = at_or<T>(affine.bias, channel, T{0});
  planes_of_channel(shape, channel).each([&](std::int64_t at) {
    plane_normalise(out + at, in + at, shape.inner, static_cast<T>(mean), scale, shift);
  });
}

// `fixed`: the moments do not depend on the input.
template <class T>
void channel_backward(const ChannelShape& shape, std::int64_t channel, const ChannelNormGrads& grads, const T* grad, const T* in,
                      const void* weight, double mean, double rstd, bool fixed) {
  const Planes planes = planes_of_channel(shape, channel);
  double sum = 0, products = 0;
  planes.each([&](std::int64_t at) {
    sum += plane_sum(grad + at, shape.inner);
    products += plane_products(grad + at, in + at, shape.inner, static_cast<T>(mean));
  });
  if (grads.weight != nullptr) static_cast<T*>(grads.weight)[channel] = static_cast<T>(products * rstd);
  if (grads.bias != nullptr) static_cast<T*>(grads.bias)[channel] = static_cast<T>(sum);
  if (grads.in == nullptr) return;
  const double scale = rstd * static_cast<double>(at_or<T>(weight, channel, T{1}));
  const PlaneBackward<T> backward{static_cast<T>(scale), fixed ? T{0} : static_cast<T>(scale * products * rstd * rstd / planes.elements()),
                                  fixed ? T{0} : static_cast<T>(scale * sum / planes.elements())};
  planes.each([&](std::int64_t at) { backward(static_cast<T*>(grads.in) + at, grad + at, in + at, shape.inner, static_cast<T>(mean)); });
}

}  // namespace

void batch_norm_train(const ChannelShape& shape, double eps, void* out, void* save_mean, void* save_rstd, const void* in,
                      const ChannelAffine& affine, const RunningMoments& running) {
  visit_floating_types(shape.type, "aten::native_batch_norm", [&]<class T>() {
    const double elements = static_cast<double>(shape.batch * shape.inner);
    const auto move = [&](void* estimates, std::int64_t c, double value) {
      if (estimates == nullptr) return;
      T& estimate = static_cast<T*>(estimates)[c];
      estimate = static_cast<T>((1 - running.momentum) * static_cast<double>(estimate) + running.momentum * value);
    };
    each_channel(shape, [&](std::int64_t c) {
      const Moments moments = moments_of(planes_of_channel(shape, c), static_cast<const T*>(in));
      const double rstd = 1 / std::sqrt(moments.var + eps);
      static_cast<T*>(save_mean)[c] = static_cast<T>(moments.mean);
      static_cast<T*>(save_rstd)[c] = static_cast<T>(rstd);
      move(running.mean, c, moments.mean);
      move(running.var, c, moments.var * elements / (elements - 1));  // the unbiased one
      normalise_channel(shape, c, static_cast<T*>(out), static_cast<const T*>(in), affine, moments.mean, rstd);
    });
  });
}

void batch_norm_eval(const ChannelShape& shape, double eps, void* out, const void* in, const ChannelAffine& affine, const void* mean,
                     const void* var) {
  visit_floating_types(shape.type, "aten::native_batch_norm", [&]<class T>() {
    each_channel(shape, [&](std::int64_t c) {
      const double rstd = 1 / std::sqrt(static_cast<double>(static_cast<const T*>(var)[c]) + eps);
      normalise_channel(shape, c, static_cast<T*>(out), static_cast<const T*>(in), affine, static_cast<const T*>(mean)[c], rstd);
    });
  });
}

void batch_norm_train_backward(const ChannelShape& shape, const ChannelNormGrads& grads, const void* grad, const void* in,
                               const void* weight, const void* save_mean, const void* save_rstd) {
  visit_floating_types(shape.type, "aten::native_batch_norm_backward", [&]<class T>() {
    each_channel(shape, [&](std::int64_t c) {
      channel_backward(shape, c, grads, static_cast<const T*>(grad), static_cast<const T*>(in), weight, static_cast<const T*>(save_mean)[c],
                       static_cast<const T*>(save_rstd)[c], false);
    });
  });
}

void batch_norm_eval_backward(const ChannelShape& shape, double eps, const ChannelNormGrads& grads, const void* grad, const void* in,
                              const void* weight, const void* mean, const void* var) {
  visit_floating_types(shape.type, "aten::native_batch_norm_backward", [&]<class T>() {
    each_channel(shape, [&](std::int64_t c) {
      const double rstd = 1 / std::sqrt(static_cast<double>(static_cast<const T*>(var)[c]) + eps);
      channel_backward(shape, c, grads, static_cast<const T*>(grad), static_cast<const T*>(in), weight, static_cast<const T*>(mean)[c],
                       rstd, true);
    });
  });
}

void group_norm(const ChannelShape& shape, std::int64_t groups, double eps, void* out, void* mean, void* rstd, const void* in,
                const ChannelAffine& affine) {
  visit_floating_types(shape.type, "aten::native_group_norm", [&]<class T>() {
    const std::int64_t size = shape.channels / groups;
    parallel_for(0, shape.batch * groups, kParallelGrain / (size * shape.inner + 1) + 1, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t g = from; g < to; ++g) {
        const Planes planes{g * size, 1, size, shape.inner};
        const Moments moments = moments_of(planes, static_cast<const T*>(in));
        const T scale = static_cast<T>(1 / std::sqrt(moments.var + eps));
        static_cast<T*>(mean)[g] = static_cast<T>(moments.mean);
        static_cast<T*>(rstd)[g] = scale;
        for (std::int64_t p = g * size; p < (g + 1) * size; ++p) {
          const std::int64_t channel = p % shape.channels, at = p * shape.inner;
          plane_normalise(static_cast<T*>(out) + at, static_cast<const T*>(in) + at, shape.inner, static_cast<T>(moments.mean),
                          scale * at_or<T>(affine.weight, channel, T{1}), at_or<T>(affine.bias, channel, T{0}));
        }
      }
    });
  });
}

void group_norm_backward(const ChannelShape& shape, std::int64_t groups, const ChannelNormGrads& grads, const void* grad, const void* in,
                         const void* weight, const void* mean, const void* rstd) {
  visit_floating_types(shape.type, "aten::native_group_norm_backward", [&]<class T>() {
    const std::int64_t size = shape.channels / groups, planes = shape.batch * shape.channels, inner = shape.inner;
    const T *grad_of = static_cast<const T*>(grad), *in_of = static_cast<const T*>(in);
    std::vector<double> sums(static_cast<std::size_t>(planes)), products(static_cast<std::size_t>(planes));
    const auto mean_at = [&](std::int64_t g) { return static_cast<const T*>(mean)[g]; };
    const auto rstd_at = [&](std::int64_t g) { return static_cast<double>(static_cast<const T*>(rstd)[g]); };
    parallel_for(0, planes, kParallelGrain / (inner + 1) + 1, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t p = from; p < to; ++p) {
        sums[p] = plane_sum(grad_of + p * inner, inner);
        products[p] = plane_products(grad_of + p * inner, in_of + p * inner, inner, mean_at(p / size)) * rstd_at(p / size);
      }
    });
    for (std::int64_t c = 0; c < shape.channels; ++c) {
      double sum = 0, product = 0;
      for (std::int64_t p = c; p < planes; p += shape.channels) sum += sums[p], product += products[p];
      if (grads.weight != nullptr) static_cast<T*>(grads.weight)[c] = static_cast<T>(product);
      if (grads.bias != nullptr) static_cast<T*>(grads.bias)[c] = static_cast<T>(sum);
    }
    if (grads.in == nullptr) return;
    parallel_for(0, shape.batch * groups, kParallelGrain / (size * inner + 1) + 1, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t g = from; g < to; ++g) {
        const auto weight_at = [&](std::int64_t p) { return static_cast<double>(at_or<T>(weight, p % shape.channels, T{1})); };
        double sum = 0, product = 0;
        for (std::int64_t p = g * size; p < (g + 1) * size; ++p) sum += sums[p] * weight_at(p), product += products[p] * weight_at(p);
        const double factor = rstd_at(g), elements = static_cast<double>(size * inner);
        for (std::int64_t p = g * size; p < (g + 1) * size; ++p) {
          const PlaneBackward<T> backward{static_cast<T>(factor * weight_at(p)), static_cast<T>(factor * factor * product / elements),
                                          static_cast<T>(factor * sum / elements)};
          backward(static_cast<T*>(grads.in) + p * inner, grad_of + p * inner, in_of + p * inner, inner, mean_at(g));
        }
      }
    });
  });
}

}  // namespace mindtorch::cpu

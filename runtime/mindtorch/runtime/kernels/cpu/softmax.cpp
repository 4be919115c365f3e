// Kernels of softmax and log_softmax.
#include "mindtorch/runtime/kernels/cpu/softmax.h"

#include <limits>

#include "mindtorch/runtime/kernels/cpu/lanes.h"
#include "mindtorch/runtime/kernels/cpu/vector_math.h"
#include "mindtorch/runtime/kernels/cpu/vectorize.h"
#include "mindtorch/runtime/parallel.h"

namespace mindtorch::cpu {

namespace {

// The four functions share their walk. An algorithm says what is done to one row, and to a block of neighbouring columns:
//   row(out, n, inputs...)                   contiguous, n > 0
//   columns(out, n, width, stride, inputs...)  `width` <= kBlock columns of n elements, `stride` elements apart
constexpr std::int64_t kBlock = 128;

template <class T, class Algorithm, class... Inputs>
void run(const SoftmaxShape& shape, const Algorithm& algorithm, void* out, const Inputs*... inputs) {
  if (shape.size == 0) return;
  T* result = static_cast<T*>(out);
  if (shape.inner == 1) {
    parallel_for(0, shape.outer, kParallelGrain / shape.size + 1, [&](std::int64_t from, std::int64_t to) {
      vectorized([&] {
        for (std::int64_t r = from; r < to; ++r)
          algorithm.row(result + r * shape.size, shape.size, static_cast<const T*>(inputs) + r * shape.size...);
      });
    });
    return;
  }
  const std::int64_t blocks = (shape.inner + kBlock - 1) / kBlock;
  parallel_for(0, shape.outer * blocks, kParallelGrain / (shape.size * kBlock) + 1, [&](std::int64_t from, std::int64_t to) {
    vectorized([&] {
      for (std::int64_t b = from; b < to; ++b) {
        const std::int64_t column = b % blocks * kBlock, start = b / blocks * shape.size * shape.inner + column;
        algorithm.columns(result + start, shape.size, std::min(kBlock, shape.inner - column), shape.inner,
                          static_cast<const T*>(inputs) + start...);
      }
    });
  });
}

template <class T>
void column_maxima(T* maxima, std::int64_t n, std::int64_t width, std::int64_t stride, const T* in) {
  std::copy(in, in + width, maxima);
  for (std::int64_t i = 1; i < n; ++i)
    for (std::int64_t c = 0; c < width; ++c) maxima[c] = in[i * stride + c] > maxima[c] ? in[i * stride + c] : maxima[c];
}

template <class T>
struct Softmax {
  void row(T* out, std::int64_t n, const T* in) const {
    const T maximum = lane_max(in, n);
    const T sum = lane_sum<T>(n, [&](std::int64_t i) { return out[i] = math::exp(in[i] - maximum); });
    const T factor = T{1} / sum;
    for (std::int64_t i = 0; i < n; ++i) out[i] *= factor;
  }
  void columns(T* out, std::int64_t n, std::int64_t width, std::int64_t stride, const T* in) const {
    T maxima[kBlock], sums[kBlock] = {};
    column_maxima(maxima, n, width, stride, in);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t c = 0; c < width; ++c) sums[c] += out[i * stride + c] = math::exp(in[i * stride + c] - maxima[c]);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t c = 0; c < width; ++c) out[i * stride + c] /= sums[c];
  }
};

template <class T>
struct SafeSoftmax : Softmax<T> {
  static constexpr T kMinusInfinity = -std::numeric_limits<T>::infinity();
  void row(T* out, std::int64_t n, const T* in) const {
    if (lane_max(in, n) == kMinusInfinity && std::all_of(in, in + n, [](T value) { return value == kMinusInfinity; }))
      std::fill(out, out + n, T{0});
    else
      Softmax<T>::row(out, n, in);
  }
  void columns(T* out, std::int64_t n, std::int64_t width, std::int64_t stride, const T* in) const {
    Softmax<T>::columns(out, n, width, stride, in);
    for (std::int64_t c = 0; c < width; ++c) {
      bool masked = true;
      for (std::int64_t i = 0; i < n; ++i) masked = masked && in[i * stride + c] == kMinusInfinity;
      for (std::int64_t i = 0; masked && i < n; ++i) out[i * stride + c] = T{0};
    }
  }
};

template <class T>
struct LogSoftmax {
  void row(T* out, std::int64_t n, const T* in) const {
    const T maximum = lane_max(in, n);
    const T log_sum = std::log(lane_sum<T>(n, [&](std::int64_t i) { return math::exp(in[i] - maximum); }));
    for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] - maximum - log_sum;
  }
  void columns(T* out, std::int64_t n, std::int64_t width, std::int64_t stride, const T* in) const {
    T maxima[kBlock], sums[kBlock] = {};
    column_maxima(maxima, n, width, stride, in);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t c = 0; c < width; ++c) sums[c] += math::exp(in[i * stride + c] - maxima[c]);
    for (std::int64_t c = 0; c < width; ++c) sums[c] = std::log(sums[c]);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t c = 0; c < width; ++c) out[i * stride + c] = in[i * stride + c] - maxima[c] - sums[c];
  }
};

// (grad - sum(grad * output)) * output
template <class T>
struct SoftmaxBackward {
  void row(T* grad_in, std::int64_t n, const T* grad, const T* output) const {
    const T sum = lane_sum<T>(n, [&](std::int64_t i) { return grad[i] * output[i]; });
    for (std::int64_t i = 0; i < n; ++i) grad_in[i] = (grad[i] - sum) * output[i];
  }
  void columns(T* grad_in, std::int64_t n, std::int64_t width, std::int64_t stride, const T* grad, const T* output) const {
    T sums[kBlock] = {};
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t c = 0; c < width; ++c) sums[c] += grad[i * stride + c] * output[i * stride + c];
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t c = 0; c < width; ++c) grad_in[i * stride + c] = (grad[i * stride + c] - sums[c]) * output[i * stride + c];
  }
};

// grad - exp(output) * sum(grad)
template <class T>
struct LogSoftmaxBackward {
  void row(T* grad_in, std::int64_t n, const T* grad, const T* output) const {
    const T sum = lane_sum<T>(n, [&](std::int64_t i) { return grad[i]; });
    for (std::int64_t i = 0; i < n; ++i) grad_in[i] = grad[i] - math::exp(output[i]) * sum;
  }
  void columns(T* grad_in, std::int64_t n, std::int64_t width, std::int64_t stride, const T* grad, const T* output) const {
    T sums[kBlock] = {};
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t c = 0; c < width; ++c) sums[c] += grad[i * stride + c];
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t c = 0; c < width; ++c) grad_in[i * stride + c] = grad[i * stride + c] - math::exp(output[i * stride + c]) * sums[c];
  }
};

}  // namespace

void softmax(ScalarType type, const SoftmaxShape& shape, void* out, const void* in) {
  visit_floating_types(type, "aten::_softmax", [&]<class T>() { run<T>(shape, Softmax<T>(), out, in); });
}

void safe_softmax(ScalarType type, const SoftmaxShape& shape, void* out, const void* in) {
  visit_floating_types(type, "aten::_safe_softmax", [&]<class T>() { run<T>(shape, SafeSoftmax<T>(), out, in); });
}

void log_softmax(ScalarType type, const SoftmaxShape& shape, void* out, const void* in) {
  visit_floating_types(type, "aten::_log_softmax", [&]<class T>() { run<T>(shape, LogSoftmax<T>(), out, in); });
}

void softmax_backward(ScalarType type, const SoftmaxShape& shape, void* grad_in, const void* grad, const void* output) {
  visit_floating_types(type, "aten::_softmax_backward_data",
                       [&]<class T>() { run<T>(shape, SoftmaxBackward<T>(), grad_in, grad, output); });
}

void log_softmax_backward(ScalarType type, const SoftmaxShape& shape, void* grad_in, const void* grad, const void* output) {
  visit_floating_types(type, "aten::_log_softmax_backward_data",
                       [&]<class T>() { run<T>(shape, LogSoftmaxBackward<T>(), grad_in, grad, output); });
}

}  // namespace mindtorch::cpu

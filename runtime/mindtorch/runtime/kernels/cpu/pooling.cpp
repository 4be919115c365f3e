// Kernels of pooling.
#include "mindtorch/runtime/kernels/cpu/pooling.h"

#include <algorithm>
#include <vector>

#include "mindtorch/runtime/kernels/cpu/vectorize.h"
#include "mindtorch/runtime/parallel.h"

namespace mindtorch::cpu {

namespace {

// A part of a plane.
struct Patch {
  std::int64_t top, bottom, left, right;
  std::int64_t size() const { return (bottom - top) * (right - left); }
};

// f(plane) for all planes, in parallel.
template <class F>
void each_plane(std::int64_t planes, std::int64_t work, const F& f) {
  parallel_for(0, planes, kParallelGrain / std::max<std::int64_t>(1, work) + 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t p = from; p < to; ++p) f(p);
  });
}

// Outputs are computed in runs of up to so many, tap by tap: all positions of a run are compared or added at once.
constexpr std::int64_t kRun = 256;

// Where each column of taps lies inside of the image: the same for all rows and planes.
std::vector<Inside> columns_inside(const Window& w) {
  std::vector<Inside> columns;
  for (std::int64_t kx = 0; kx < w.kernel_w; ++kx) columns.emplace_back(w.in_w, w.out_w, kx * w.dilation_w - w.pad_w, w.stride_w);
  return columns;
}

// f(offset, first, last) for each tap of the run [begin, end) of row y: position x looks at plane[x * stride_w + offset] for first <= x <
// last.
template <class F>
void each_tap(const Window& w, const std::vector<Inside>& columns, std::int64_t y, std::int64_t begin, std::int64_t end, const F& f) {
  for (std::int64_t ky = 0; ky < w.kernel_h; ++ky) {
    const std::int64_t row = y * w.stride_h - w.pad_h + ky * w.dilation_h;
    if (row < 0 || row >= w.in_h) continue;
    for (std::int64_t kx = 0; kx < w.kernel_w; ++kx) {
      const Inside& inside = columns[static_cast<std::size_t>(kx)];
      f(row * w.in_w + kx * w.dilation_w - w.pad_w, std::max(begin, inside.first), std::min(end, inside.last));
    }
  }
}

// f(y, begin, end) for all runs of a plane.
template <class F>
void each_run(const Window& w, const F& f) {
  for (std::int64_t y = 0; y < w.out_h; ++y)
    for (std::int64_t begin = 0; begin < w.out_w; begin += kRun) f(y, begin, std::min(w.out_w, begin + kRun));
}

template <class T>
void max_run(const Window& w, const std::vector<Inside>& columns, const T* plane, std::int64_t y, std::int64_t begin, std::int64_t end,
             T* out, std::int64_t* indices) {
  T best[kRun];
  std::int32_t at[kRun];
  std::fill_n(at, end - begin, -1);
  each_tap(w, columns, y, begin, end, [&, stride = w.stride_w](std::int64_t offset, std::int64_t first, std::int64_t last) {
    MINDTORCH_INDEPENDENT_ITERATIONS
    for (std::int64_t x = first; x < last; ++x) {
      const T value = plane[x * stride + offset], so_far = best[x - begin];
      const bool better = (at[x - begin] < 0) | (value > so_far) | (value != value);
      best[x - begin] = better ? value : so_far;
      at[x - begin] = better ? static_cast<std::int32_t>(x * stride + offset) : at[x - begin];
    }
  });
  std::copy_n(best, end - begin, out + begin);
  std::copy_n(at, end - begin, indices + begin);
}

// 1 / number of elements of the windows of row y.
class AverageFactors {
 public:
  AverageFactors(const AveragePool& pool, std::int64_t y) : pool_(pool), rows_(count(pool.window, y, true)) {}
  double operator()(std::int64_t x) const {
    return 1.0 / static_cast<double>(pool_.divisor_override != 0 ? pool_.divisor_override : rows_ * count(pool_.window, x, false));
  }

 private:
  std::int64_t count(const Window& w, std::int64_t position, bool vertical) const {
    const std::int64_t pad = vertical ? w.pad_h : w.pad_w, in = vertical ? w.in_h : w.in_w, kernel = vertical ? w.kernel_h : w.kernel_w;
    const std::int64_t start = position * (vertical ? w.stride_h : w.stride_w) - pad, end = std::min(start + kernel, in + pad);
    return pool_.count_include_pad ? end - start : std::min(end, in) - std::max<std::int64_t>(start, 0);
  }
  const AveragePool& pool_;
  std::int64_t rows_;
};

template <class F>
void each_part(const AdaptivePool& pool, const F& f) {
  const auto begin = [](std::int64_t i, std::int64_t in, std::int64_t out) { return i * in / out; };
  const auto end = [](std::int64_t i, std::int64_t in, std::int64_t out) { return ((i + 1) * in + out - 1) / out; };
  for (std::int64_t y = 0; y < pool.out_h; ++y)
    for (std::int64_t x = 0; x < pool.out_w; ++x) {
      const Patch patch{begin(y, pool.in_h, pool.out_h), end(y, pool.in_h, pool.out_h), begin(x, pool.in_w, pool.out_w),
                        end(x, pool.in_w, pool.out_w)};
      f(y * pool.out_w + x, patch);
    }
}

template <class T>
T sum_of(const Patch& patch, const T* plane, std::int64_t width) {
  T sum = 0;
  for (std::int64_t row = patch.top; row < patch.bottom; ++row)
    for (std::int64_t column = patch.left; column < patch.right; ++column) sum += plane[row * width + column];
  return sum;
}

template <class T>
void add_to(const Patch& patch, T* plane, std::int64_t width, T value) {
  for (std::int64_t row = patch.top; row < patch.bottom; ++row)
    for (std::int64_t column = patch.left; column < patch.right; ++column) plane[row * width + column] += value;
}

}  // namespace

void max_pool(ScalarType type, const Window& window, std::int64_t planes, void* out, std::int64_t* indices, const void* in) {
  visit_types(type, [&]<class T>() {
    each_plane(planes, window.pixels(), [&, columns = columns_inside(window)](std::int64_t p) {
      vectorized([&] {
        each_run(window, [&](std::int64_t y, std::int64_t begin, std::int64_t end) {
          const std::int64_t row = p * window.positions() + y * window.out_w;
          max_run(window, columns, static_cast<const T*>(in) + p * window.pixels(), y, begin, end, static_cast<T*>(out) + row,
                  indices + row);
        });
      });
    });
  });
}

void max_pool_backward(ScalarType type, const Window& window, std::int64_t planes, void* grad_in, const void* grad,
                       const std::int64_t* indices) {
  visit_floating_types(type, "aten::max_pool2d_with_indices_backward", [&]<class T>() {
    each_plane(planes, window.pixels(), [&](std::int64_t p) {
      T* plane = static_cast<T*>(grad_in) + p * window.pixels();
      for (std::int64_t at = p * window.positions(); at < (p + 1) * window.positions(); ++at) {
        if (indices[at] < 0 || indices[at] >= window.pixels())
          throw_error("aten::max_pool2d_with_indices_backward", "index {} is outside of an image of {} elements", indices[at],
                      window.pixels());
        plane[indices[at]] += static_cast<const T*>(grad)[at];
      }
    });
  });
}

void avg_pool(ScalarType type, const AveragePool& pool, std::int64_t planes, void* out, const void* in) {
  const Window& w = pool.window;
  visit_floating_types(type, "aten::avg_pool2d", [&]<class T>() {
    each_plane(planes, w.pixels(), [&, columns = columns_inside(w)](std::int64_t p) {
      const T* plane = static_cast<const T*>(in) + p * w.pixels();
      vectorized([&] {
        each_run(w, [&](std::int64_t y, std::int64_t begin, std::int64_t end) {
          T* row = static_cast<T*>(out) + p * w.positions() + y * w.out_w;
          std::fill(row + begin, row + end, T{0});
          each_tap(w, columns, y, begin, end, [&, stride = w.stride_w](std::int64_t offset, std::int64_t first, std::int64_t last) {
            MINDTORCH_INDEPENDENT_ITERATIONS
            for (std::int64_t x = first; x < last; ++x) row[x] += plane[x * stride + offset];
          });
          const AverageFactors factor(pool, y);
          for (std::int64_t x = begin; x < end; ++x) row[x] *= static_cast<T>(factor(x));
        });
      });
    });
  });
}

void avg_pool_backward(ScalarType type, const AveragePool& pool, std::int64_t planes, void* grad_in, const void* grad) {
  const Window& w = pool.window;
  visit_floating_types(type, "aten::avg_pool2d_backward", [&]<class T>() {
    each_plane(planes, w.pixels(), [&, columns = columns_inside(w)](std::int64_t p) {
      T* plane = static_cast<T*>(grad_in) + p * w.pixels();
      std::fill_n(plane, w.pixels(), T{0});
      each_run(w, [&](std::int64_t y, std::int64_t begin, std::int64_t end) {
        const T* row = static_cast<const T*>(grad) + p * w.positions() + y * w.out_w;
        const AverageFactors factor(pool, y);
        T shares[kRun];
        for (std::int64_t x = begin; x < end; ++x) shares[x - begin] = row[x] * static_cast<T>(factor(x));
        each_tap(w, columns, y, begin, end, [&](std::int64_t offset, std::int64_t first, std::int64_t last) {
          for (std::int64_t x = first; x < last; ++x) plane[x * w.stride_w + offset] += shares[x - begin];
        });
      });
    });
  });
}

void adaptive_avg_pool(ScalarType type, const AdaptivePool& pool, std::int64_t planes, void* out, const void* in) {
  const std::int64_t pixels = pool.in_h * pool.in_w, positions = pool.out_h * pool.out_w;
  visit_floating_types(type, "aten::_adaptive_avg_pool2d", [&]<class T>() {
    each_plane(planes, pixels, [&](std::int64_t p) {
      each_part(pool, [&](std::int64_t position, const Patch& patch) {
        const T sum = sum_of(patch, static_cast<const T*>(in) + p * pixels, pool.in_w);
        static_cast<T*>(out)[p * positions + position] = sum / static_cast<T>(patch.size());
      });
    });
  });
}

void adaptive_avg_pool_backward(ScalarType type, const AdaptivePool& pool, std::int64_t planes, void* grad_in, const void* grad) {
  const std::int64_t pixels = pool.in_h * pool.in_w, positions = pool.out_h * pool.out_w;
  visit_floating_types(type, "aten::_adaptive_avg_pool2d_backward", [&]<class T>() {
    each_plane(planes, pixels, [&](std::int64_t p) {
      T* plane = static_cast<T*>(grad_in) + p * pixels;
      std::fill_n(plane, pixels, T{0});
      each_part(pool, [&](std::int64_t position, const Patch& patch) {
        add_to(patch, plane, pool.in_w, static_cast<const T*>(grad)[p * positions + position] / static_cast<T>(patch.size()));
      });
    });
  });
}

}  // namespace mindtorch::cpu

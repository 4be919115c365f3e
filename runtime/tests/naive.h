// Naive references: tensors as plain vectors of doubles, walked index by index.
#pragma once

#include <functional>
#include <random>
#include <vector>

#include "mindtorch/runtime/functions.h"

namespace mindtorch::testing {

// The values of a tensor and its sizes, read element by element through its strides.
struct Plain {
  std::vector<std::int64_t> sizes;
  std::vector<double> values;  // row by row

  double at(const std::vector<std::int64_t>& index) const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) offset = offset * sizes[d] + index[d];
    return values[static_cast<std::size_t>(offset)];
  }
  // With broadcasting: leading dimensions are dropped, dimensions of one element stay at 0.
  double broadcast_at(const std::vector<std::int64_t>& index) const {
    std::vector<std::int64_t> own(index.end() - static_cast<std::ptrdiff_t>(sizes.size()), index.end());
    for (std::size_t d = 0; d < own.size(); ++d)
      if (sizes[d] == 1) own[d] = 0;
    return at(own);
  }
};

// Calls f(index) for every index of `sizes`, the last dimension fastest.
inline void each_index(const std::vector<std::int64_t>& sizes, const std::function<void(const std::vector<std::int64_t>&)>& f) {
  std::vector<std::int64_t> index(sizes.size(), 0);
  for (const std::int64_t size : sizes)
    if (size == 0) return;
  while (true) {
    f(index);
    std::size_t d = sizes.size();
    while (d > 0 && ++index[d - 1] == sizes[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

// Reads through strides, without any op of the runtime.
inline Plain plain(const Tensor& tensor) {
  Plain result{tensor.sizes().vec(), {}};
  each_index(result.sizes, [&](const std::vector<std::int64_t>& index) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * tensor.strides()[d];
    result.values.push_back(
        visit_types(tensor.dtype(), [&]<class T>() { return static_cast<double>(static_cast<const T*>(tensor.data_ptr())[offset]); }));
  });
  return result;
}

// Random tensors of any type and layout. The same sequence for the same seed.
class TensorMaker {
 public:
  explicit TensorMaker(unsigned seed) : random_(seed) {}

  std::vector<std::int64_t> sizes(int max_dims = 4, std::int64_t max_size = 5) {
    std::vector<std::int64_t> result(number(0, max_dims));
    for (std::int64_t& size : result) size = number(0, 19) == 0 ? 0 : static_cast<std::int64_t>(number(1, static_cast<int>(max_size)));
    return result;
  }
  // Some dimensions become 1, some leading ones go: broadcasts to `sizes`.
  std::vector<std::int64_t> broadcastable(std::vector<std::int64_t> sizes) {
    sizes.erase(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(number(0, static_cast<int>(sizes.size()))));
    for (std::int64_t& size : sizes)
      if (number(0, 3) == 0) size = 1;
    return sizes;
  }
  ScalarType type() {
    static constexpr ScalarType kTypes[] = {kFloat32, kFloat64, kInt64, kInt32, kUint8, kBool};
    return kTypes[number(0, 5)];
  }
  ScalarType floating_type() { return number(0, 1) == 0 ? kFloat32 : kFloat64; }

  // Values are small integers or halves, so that every type holds them; memory may be permuted, have gaps, or start late.
  Tensor make(const std::vector<std::int64_t>& shape, ScalarType dtype, double low = -4, double high = 4) {
    std::vector<std::int64_t> order(shape.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    if (number(0, 1) == 0) std::shuffle(order.begin(), order.end(), random_);
    const std::int64_t gap = number(0, 2) == 0 ? 2 : 1, offset = static_cast<std::int64_t>(number(0, 2));
    std::vector<std::int64_t> strides(shape.size());
    std::int64_t stride = gap;
    for (std::size_t i = order.size(); i-- > 0;) {
      strides[static_cast<std::size_t>(order[i])] = stride;
      stride *= std::max<std::int64_t>(shape[static_cast<std::size_t>(order[i])], 1);
    }
    const Tensor memory = zeros({offset + stride}, {.dtype = dtype});
    const bool is_signed = dtype != kUint8 && dtype != kBool;
    visit_types(dtype, [&]<class T>() {
      for (std::int64_t i = 0; i < memory.numel(); ++i) {
        double value = std::floor(std::uniform_real_distribution<double>(is_signed ? low : std::max(low, 0.0), high)(random_) * 2) / 2;
        static_cast<T*>(memory.data_ptr())[i] = static_cast<T>(value);
      }
    });
    return memory.as_strided(shape, strides, offset).detach();
  }
  std::size_t number(int low, int high) { return static_cast<std::size_t>(std::uniform_int_distribution<int>(low, high)(random_)); }

 private:
  std::mt19937 random_;
};

}  // namespace mindtorch::testing

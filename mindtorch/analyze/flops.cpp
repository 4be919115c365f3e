// The table of FLOP formulas. Matrix products and convolutions count as torch counts them (2 per multiply-add; the bias is not counted).
#include "mindtorch/analyze/flops.h"

#include <algorithm>
#include <array>

namespace mindtorch::analyze {
namespace {

using Sizes = std::span<const std::int64_t>;
using Arguments = std::span<const Argument>;

// A count that becomes 0 for good once a negative size or an overflow enters it.
class Count {
 public:
  Count() = default;
  explicit Count(std::int64_t value) { *this *= value; }

  Count& operator*=(std::int64_t factor) {
    valid_ = valid_ && factor >= 0 && !__builtin_mul_overflow(value_, factor, &value_);
    return *this;
  }
  Count& operator*=(Sizes sizes) {
    for (const std::int64_t size : sizes) *this *= size;
    return *this;
  }
  std::int64_t value() const { return valid_ ? value_ : 0; }

 private:
  std::int64_t value_ = 1;
  bool valid_ = true;
};

template <class... Factors>
std::int64_t product(Factors... factors) {
  Count count;
  ((count *= factors), ...);
  return count.value();
}

// Scalars enter sums before they enter a Count: beyond this nothing is a size, and below it no sum overflows.
constexpr bool is_size(std::int64_t value) { return value >= 0 && value < (std::int64_t{1} << 40); }

bool is_tensor(Arguments a, std::size_t i) { return i < a.size() && a[i].kind == trace::Input::Kind::kTensor; }
// The sizes of argument i if it is a tensor of `dims` dimensions, else empty.
Sizes tensor(Arguments a, std::size_t i, std::size_t dims) { return is_tensor(a, i) && a[i].values.size() == dims ? a[i].values : Sizes(); }

std::int64_t product_of_two(Sizes left, Sizes right) {
  if (left.size() == 2 && right.size() == 2 && left[1] == right[0]) return product(2, left[0], left[1], right[1]);
  if (left.size() == 3 && right.size() == 3 && left[0] == right[0] && left[2] == right[1])
    return product(2, left[0], left[1], left[2], right[2]);
  return 0;
}

std::int64_t mm(Arguments a) { return product_of_two(tensor(a, 0, 2), tensor(a, 1, 2)); }
std::int64_t addmm(Arguments a) { return product_of_two(tensor(a, 1, 2), tensor(a, 2, 2)); }
std::int64_t bmm(Arguments a) { return product_of_two(tensor(a, 0, 3), tensor(a, 1, 3)); }
std::int64_t baddbmm(Arguments a) { return product_of_two(tensor(a, 1, 3), tensor(a, 2, 3)); }

// Number of elements of two shapes broadcast together, trailing dimensions aligned.
Count broadcast(Sizes left, Sizes right) {
  if (left.size() < right.size()) std::swap(left, right);
  Count count;
  const std::size_t extra = left.size() - right.size();
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::int64_t other = i < extra ? 1 : right[i - extra];
    count *= left[i] == 1 ? other : left[i];
  }
  return count;
}

std::int64_t matmul(Arguments a) {
  if (!is_tensor(a, 0) || !is_tensor(a, 1) || a[0].values.empty() || a[1].values.empty()) return 0;
  const Sizes left = a[0].values, right = a[1].values;
  const std::int64_t rows = left.size() > 1 ? left[left.size() - 2] : 1;
  const std::int64_t columns = right.size() > 1 ? right.back() : 1;
  const Sizes left_batch = left.first(left.size() > 2 ? left.size() - 2 : 0),
              right_batch = right.first(right.size() > 2 ? right.size() - 2 : 0);
  Count count = broadcast(left_batch, right_batch);
  for (const std::int64_t factor : {std::int64_t{2}, rows, left.back(), columns}) count *= factor;
  return count.value();
}

// input [*, in], weight [out, in] or [in].
std::int64_t linear(Arguments a) {
  if (!is_tensor(a, 0) || !is_tensor(a, 1) || a[1].values.empty()) return 0;
  return product(2, a[0].values, a[1].values.size() > 1 ? a[1].values[0] : std::int64_t{1});
}

// input, grad_output, weight: the gradients of input and weight are each a product of the size of the forward's.
std::int64_t linear_backward(Arguments a) {
  if (!is_tensor(a, 0) || !is_tensor(a, 2) || a[2].values.empty()) return 0;
  return product(4, a[0].values, a[2].values.size() > 1 ? a[2].values[0] : std::int64_t{1});
}

// Value i of a list of numbers that may be given as one number for all dimensions.
std::int64_t at(Arguments a, std::size_t argument, std::size_t i, std::int64_t otherwise) {
  if (argument >= a.size() || a[argument].values.empty()) return otherwise;
  const bool is_number = a[argument].kind == trace::Input::Kind::kInt || a[argument].kind == trace::Input::Kind::kIntList;
  if (!is_number) return otherwise;
  const Sizes values = a[argument].values;
  return values.size() == 1 ? values[0] : i < values.size() ? values[i] : otherwise;
}

bool is_true(Arguments a, std::size_t i) { return i < a.size() && a[i].kind == trace::Input::Kind::kBool && a[i].values[0] != 0; }

// Each weight is used once at every position of the output (of the input, if transposed) of every sample.
std::int64_t convolution_at(Sizes positions, Sizes weight, bool batched) {
  return product(2, batched ? positions[0] : std::int64_t{1}, positions.subspan(batched ? 2 : 1), weight);
}

// input, weight, bias, stride, padding, dilation; the weight has one more dimension than there are spatial ones.
std::int64_t convolution_forward(Arguments a, bool transposed) {
  if (!is_tensor(a, 0) || !is_tensor(a, 1) || a[1].values.size() < 3) return 0;
  const Sizes input = a[0].values, weight = a[1].values;
  const std::size_t dims = weight.size() - 2;
  const bool batched = input.size() == dims + 2;
  if (!batched && input.size() != dims + 1) return 0;
  if (transposed) return convolution_at(input, weight, batched);
  if (dims > 3 || (a.size() > 4 && a[4].kind == trace::Input::Kind::kText)) return 0;
  std::array<std::int64_t, 5> output{};
  std::copy(input.begin(), input.end(), output.begin());
  for (std::size_t i = 0; i < dims; ++i) {
    std::int64_t& size = output[input.size() - dims + i];
    const std::int64_t stride = at(a, 3, i, 1), padding = at(a, 4, i, 0), dilation = at(a, 5, i, 1), kernel = weight[i + 2];
    std::int64_t reach = 0;
    if (stride <= 0 || !is_size(size) || !is_size(padding) || !is_size(dilation) || !is_size(kernel)) return 0;
    if (__builtin_mul_overflow(dilation, kernel - 1, &reach) || !is_size(reach + 1)) return 0;
    const std::int64_t free = size + 2 * padding - reach - 1;
    size = free < 0 ? 0 : free / stride + 1;
  }
  return convolution_at(Sizes(output).first(input.size()), weight, batched);
}

std::int64_t conv(Arguments a) { return convolution_forward(a, false); }
std::int64_t conv_transpose(Arguments a) { return convolution_forward(a, true); }
std::int64_t convolution(Arguments a) { return convolution_forward(a, is_true(a, 6)); }

// grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask: one product of the
// size of the forward's for each of the two gradients asked for.
std::int64_t convolution_backward(Arguments a) {
  if (!is_tensor(a, 0) || !is_tensor(a, 1) || !is_tensor(a, 2) || a[2].values.size() < 3) return 0;
  const Sizes weight = a[2].values, positions = is_true(a, 7) ? a[1].values : a[0].values;
  const bool batched = positions.size() == weight.size();
  if (!batched && positions.size() + 1 != weight.size()) return 0;
  std::int64_t gradients = 2;
  if (a.size() > 10 && a[10].kind == trace::Input::Kind::kBoolList && a[10].values.size() == 3) {
    gradients = (a[10].values[0] != 0) + (a[10].values[1] != 0);
  }
  return product(gradients, convolution_at(positions, weight, batched));
}

// Products of the attention matrix: `with_query` of them run over the depth of query and key, `with_value` over that of value.
std::int64_t attention_at(Arguments a, std::size_t first, std::int64_t with_query, std::int64_t with_value) {
  for (std::size_t i = first; i < first + 3; ++i) {
    if (!is_tensor(a, i) || a[i].values.size() < 2) return 0;
  }
  const Sizes query = a[first].values, key = a[first + 1].values, value = a[first + 2].values;
  const std::size_t n = query.size();
  if (!is_size(query[n - 1]) || !is_size(value.back())) return 0;
  const std::int64_t depth = with_query * query[n - 1] + with_value * value.back();
  return product(2, query.first(n - 2), query[n - 2], key[key.size() - 2], depth);
}

std::int64_t attention(Arguments a) { return attention_at(a, 0, 1, 1); }
// grad_out, query, key, value: the scores are computed again, then the gradients of scores, value, query and key.
std::int64_t attention_backward(Arguments a) { return attention_at(a, 1, 3, 2); }

// As torch counts them: one for each element of the first argument, whatever it is broadcast to.
std::int64_t pointwise(Arguments a) { return is_tensor(a, 0) ? product(a[0].values) : 0; }

struct Entry {
  std::string_view op;
  FlopFormula formula;
};

constexpr auto kFormulas = std::to_array<Entry>({
    {"mm", mm},
    {"addmm", addmm},
    {"addmm_", addmm},
    {"bmm", bmm},
    {"baddbmm", baddbmm},
    {"baddbmm_", baddbmm},
    {"matmul", matmul},
    {"linear", linear},
    {"linear_backward", linear_backward},
    {"conv1d", conv},
    {"conv2d", conv},
    {"conv3d", conv},
    {"conv_transpose1d", conv_transpose},
    {"conv_transpose2d", conv_transpose},
    {"conv_transpose3d", conv_transpose},
    {"convolution", convolution},
    {"_convolution", convolution},
    {"convolution_overrideable", convolution},
    {"convolution_backward", convolution_backward},
    {"convolution_backward_overrideable", convolution_backward},
    {"scaled_dot_product_attention", attention},
    {"_scaled_dot_product_attention_math", attention},
    {"_scaled_dot_product_flash_attention", attention},
    {"_scaled_dot_product_flash_attention_for_cpu", attention},
    {"_scaled_dot_product_efficient_attention", attention},
    {"_scaled_dot_product_cudnn_attention", attention},
    {"_scaled_dot_product_flash_attention_backward", attention_backward},
    {"_scaled_dot_product_flash_attention_for_cpu_backward", attention_backward},
    {"_scaled_dot_product_efficient_attention_backward", attention_backward},
    {"_scaled_dot_product_cudnn_attention_backward", attention_backward},
    {"add", pointwise},
    {"mul", pointwise},
});

}  // namespace

FlopFormula flop_formula(std::string_view op) {
  if (op.starts_with("aten::")) op.remove_prefix(6);
  const auto* const found = std::ranges::find(kFormulas, op, &Entry::op);
  return found == kFormulas.end() ? nullptr : found->formula;
}

std::vector<std::string_view> ops_with_flops() {
  std::vector<std::string_view> ops(kFormulas.size());
  std::ranges::transform(kFormulas, ops.begin(), &Entry::op);
  return ops;
}

}  // namespace mindtorch::analyze

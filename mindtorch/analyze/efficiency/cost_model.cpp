// The cost model. FLOPs of products are those of flops.h, which torch counts too; what is added here are the other ops, the bytes, and the
// half of causal attention that fused kernels skip.
#include "mindtorch/analyze/efficiency/cost_model.h"

#include <algorithm>
#include <array>
#include <vector>

#include "mindtorch/analyze/flops.h"

namespace mindtorch::analyze {
namespace {

using trace::ScalarType;
using Kind = trace::Input::Kind;
using Arguments = std::span<const Argument>;
using Sizes = std::span<const std::int64_t>;

// --- Tensors ---

double count(Sizes sizes) {
  double all = 1;
  for (const std::int64_t size : sizes) all *= static_cast<double>(std::max<std::int64_t>(size, 0));
  return all;
}

// Elements in memory: those that expand() shows again and again are there once.
double elements_in_memory(const Argument& tensor) {
  double all = 1;
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    const bool is_expanded = i < tensor.strides.size() && tensor.strides[i] == 0;
    if (!is_expanded) all *= static_cast<double>(std::max<std::int64_t>(tensor.values[i], 0));
  }
  return all;
}

bool is_floating(ScalarType type) {
  return type == ScalarType::kHalf || type == ScalarType::kBFloat16 || type == ScalarType::kFloat || type == ScalarType::kDouble;
}

// The type of a result of two operands, as torch promotes.
ScalarType promoted(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
  if (is_floating(a) && element_size(a) == element_size(b)) return ScalarType::kFloat;  // float16 and bfloat16
  return element_size(a) >= element_size(b) ? a : b;
}

// A call while its cost is added up.
class Call {
 public:
  explicit Call(Arguments arguments) : arguments_(arguments) {
    for (std::size_t i = 0; i < arguments.size(); i += 1 + arguments[i].list_size) first_.push_back(i);
  }

  std::size_t size() const { return first_.size(); }
  // Argument i of the call; a list of tensors is one argument.
  const Argument* at(std::size_t i) const { return i < first_.size() ? &arguments_[first_[i]] : nullptr; }
  bool is_tensor(std::size_t i) const { return at(i) != nullptr && at(i)->kind == Kind::kTensor; }
  const Argument& tensor(std::size_t i) const { return *at(i); }
  Sizes sizes(std::size_t i) const { return is_tensor(i) ? at(i)->values : Sizes(); }
  double elements(std::size_t i) const { return is_tensor(i) ? count(at(i)->values) : 0; }
  bool is_number(std::size_t i) const {
    return at(i) != nullptr && (at(i)->kind == Kind::kInt || at(i)->kind == Kind::kIntList) && !at(i)->values.empty();
  }
  bool is_true(std::size_t i) const { return at(i) != nullptr && at(i)->kind == Kind::kBool && at(i)->values[0] != 0; }
  ScalarType dtype(std::size_t i) const { return is_tensor(i) ? at(i)->dtype : ScalarType::kOther; }
  std::span<const Argument> list(std::size_t i) const {
    if (at(i) == nullptr || at(i)->kind != Kind::kTensorList) return {};
    return arguments_.subspan(first_[i] + 1, at(i)->list_size);
  }

  void read(const Argument& tensor) { move(elements_in_memory(tensor), tensor.dtype); }
  void read(std::size_t i) {
    if (is_tensor(i)) read(tensor(i));
  }
  void write(double elements, ScalarType type) { move(elements, type); }
  void write(std::size_t i) { read(i); }  // an argument that is written takes as many bytes as one that is read

  OpCost cost(double flops, ScalarType dtype, bool is_product = false) const {
    return {.flops = flops,
            .recomputed = 0,
            .bytes = has_bytes_ ? bytes_ : 0,
            .has_bytes = has_bytes_,
            .is_product = is_product,
            .dtype = dtype};
  }

 private:
  void move(double elements, ScalarType type) {
    if (elements == 0) return;
    has_bytes_ = has_bytes_ && element_size(type) > 0;
    bytes_ += elements * element_size(type);
  }

  Arguments arguments_;
  std::vector<std::size_t> first_;
  double bytes_ = 0;
  bool has_bytes_ = true;
};

using Cost = std::optional<OpCost>;

// --- Products ---

// How many of the first arguments are operands, and the size of the result. Of a product with a bias, the bias comes first.
Cost product_cost(std::string_view op, Arguments arguments, Call& call, std::size_t left, double result) {
  const std::int64_t flops = flop_formula(op)(arguments);
  if (flops <= 0) return std::nullopt;
  for (std::size_t i = 0; i <= left + 1; ++i) call.read(i);
  if (left == 0) call.read(std::size_t{2});  // the bias of aten::linear
  call.write(result, call.dtype(left));
  return call.cost(static_cast<double>(flops), call.dtype(left), true);
}

double rows_and_columns(const Call& call, std::size_t left) {
  const Sizes a = call.sizes(left), b = call.sizes(left + 1);
  if (a.empty() || b.empty()) return 0;
  return count(a.first(a.size() - 1)) * (b.size() > 1 ? static_cast<double>(b.back()) : 1.0);
}

Cost plain_product(std::string_view op, Arguments arguments, Call& call) {
  const std::size_t left = op == "mm" || op == "bmm" || op == "matmul" ? 0 : 1;
  return product_cost(op, arguments, call, left, rows_and_columns(call, left));
}

Cost linear(std::string_view op, Arguments arguments, Call& call) {
  const Sizes input = call.sizes(0), weight = call.sizes(1);
  if (input.empty() || weight.empty()) return std::nullopt;
  const double outputs = weight.size() > 1 ? static_cast<double>(weight[0]) : 1.0;
  return product_cost(op, arguments, call, 0, count(input.first(input.size() - 1)) * outputs);
}

// torch's table of FLOPs does not have this one; its operands are those of mm. An operand without a known type has eight bits.
Cost scaled_product(std::string_view, Arguments, Call& call) {
  const Sizes a = call.sizes(0), b = call.sizes(1);
  if (a.size() != 2 || b.size() != 2 || a[1] != b[0]) return std::nullopt;
  OpCost cost;
  cost.flops = 2 * count(a) * static_cast<double>(b[1]);
  const auto size = [&](std::size_t i) { return std::max(1, element_size(call.dtype(i))); };
  // The result is 16 bits wide unless the call says otherwise, which its recorded arguments do not tell.
  cost.bytes = count(a) * size(0) + count(b) * size(1) + 2 * static_cast<double>(a[0]) * static_cast<double>(b[1]);
  cost.has_bytes = true;
  cost.is_product = true;
  cost.dtype = call.dtype(0);
  return cost;
}

Cost matrix_vector(std::string_view op, Arguments, Call& call) {
  const std::size_t first = op == "addmv" ? 1 : 0;
  if (!call.is_tensor(first) || !call.is_tensor(first + 1)) return std::nullopt;
  const Sizes a = call.sizes(first), b = call.sizes(first + 1);
  if (a.empty() || b.size() != 1 || a.back() != b[0]) return std::nullopt;
  for (std::size_t i = 0; i <= first + 1; ++i) call.read(i);
  call.write(count(a.first(a.size() - 1)), call.dtype(first));
  return call.cost(2 * count(a), call.dtype(first), true);
}

// --- Convolutions ---

// The formula takes 1 for a stride that was not recorded, which would be a wrong count here.
bool has_numbers(const Call& call, std::initializer_list<std::size_t> arguments) {
  return std::ranges::all_of(arguments, [&](std::size_t i) { return i >= call.size() || call.is_number(i); });
}

Cost convolution(std::string_view op, Arguments arguments, Call& call) {
  if (!has_numbers(call, {3, 4, 5})) return std::nullopt;
  const std::int64_t flops = flop_formula(op)(arguments);
  const Sizes input = call.sizes(0), weight = call.sizes(1);
  if (flops <= 0 || weight.size() < 3) return std::nullopt;
  for (std::size_t i = 0; i < 3; ++i) call.read(i);
  const bool is_op_for_transposed = op.starts_with("conv_transpose");
  if (is_op_for_transposed || call.is_true(6)) {
    // Its positions are those of the input. The output is larger by the stride; what padding and dilation change at its edges is left out.
    const std::size_t dims = weight.size() - 2, groups_at = is_op_for_transposed ? 6 : 8;
    double outputs = static_cast<double>(weight[1]) * (call.is_number(groups_at) ? static_cast<double>(call.at(groups_at)->values[0]) : 1);
    if (input.size() == weight.size()) outputs *= static_cast<double>(input[0]);
    for (std::size_t i = 0; i < dims; ++i) {
      const Sizes strides = call.is_number(3) ? call.at(3)->values : Sizes();
      const std::int64_t stride = strides.empty() ? 1 : strides[std::min(i, strides.size() - 1)];
      outputs *= static_cast<double>(input[input.size() - dims + i]) * static_cast<double>(stride);
    }
    call.write(outputs, call.dtype(0));
  } else {
    // Every element of the output takes two FLOPs for each weight of its channel.
    const double per_element = 2 * count(weight.subspan(1));
    if (per_element > 0) call.write(static_cast<double>(flops) / per_element, call.dtype(0));
  }
  return call.cost(static_cast<double>(flops), call.dtype(0), true);
}

// grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask.
Cost convolution_backward(std::string_view op, Arguments arguments, Call& call) {
  if (call.size() > 10 && call.at(10)->kind != Kind::kBoolList) return std::nullopt;
  const std::int64_t flops = flop_formula(op)(arguments);
  if (flops <= 0) return std::nullopt;
  const Sizes mask = call.size() > 10 ? call.at(10)->values : Sizes();
  for (std::size_t i = 0; i < 3; ++i) call.read(i);
  if (mask.size() != 3 || mask[0] != 0) call.write(1);
  if (mask.size() != 3 || mask[1] != 0) call.write(2);
  return call.cost(static_cast<double>(flops), call.dtype(0), true);
}

// --- Attention ---

struct AttentionOp {
  std::string_view op;
  std::size_t causal;  // the argument that says so
  bool is_backward;
};

constexpr auto kAttention = std::to_array<AttentionOp>({
    {"scaled_dot_product_attention", 5, false},
    {"_scaled_dot_product_attention_math", 5, false},
    {"_scaled_dot_product_flash_attention", 4, false},
    {"_scaled_dot_product_flash_attention_for_cpu", 4, false},
    {"_scaled_dot_product_efficient_attention", 6, false},
    {"_scaled_dot_product_cudnn_attention", 6, false},
    {"_scaled_dot_product_flash_attention_backward", 11, true},
    {"_scaled_dot_product_flash_attention_for_cpu_backward", 7, true},
    {"_scaled_dot_product_efficient_attention_backward", 11, true},
    {"_scaled_dot_product_cudnn_attention_backward", 14, true},
});

Cost attention(std::string_view op, Arguments arguments, Call& call) {
  const auto* const known = std::ranges::find(kAttention, op, &AttentionOp::op);
  const std::size_t first = known->is_backward ? 1 : 0;
  double flops = static_cast<double>(flop_formula(op)(arguments));
  if (flops <= 0) return std::nullopt;
  const Sizes query = call.sizes(first), key = call.sizes(first + 1), value = call.sizes(first + 2);
  const double length = static_cast<double>(query[query.size() - 2]), keys = static_cast<double>(key[key.size() - 2]);
  const double scores = count(query.first(query.size() - 2)) * length * keys;  // of all heads
  double recomputed = known->is_backward ? 2 * scores * static_cast<double>(query.back()) : 0;
  // A fused kernel skips the keys behind each query. The math kernel computes all of them and masks.
  if (call.is_true(known->causal) && length == keys && op != "_scaled_dot_product_attention_math") {
    const double kept = (length + 1) / (2 * length);
    flops *= kept;
    recomputed *= kept;
  }
  const double outputs = count(query.first(query.size() - 1)) * static_cast<double>(value.back());
  const ScalarType type = call.dtype(first);
  for (std::size_t i = first; i < first + 3; ++i) call.read(i);
  call.write(outputs, type);                                             // the output, which backward reads
  call.write(count(query.first(query.size() - 1)), ScalarType::kFloat);  // the sums of the rows
  if (known->is_backward) {
    call.read(std::size_t{0});
    for (std::size_t i = first; i < first + 3; ++i) call.write(i);
  }
  OpCost cost = call.cost(flops, type, true);
  cost.recomputed = recomputed;
  return cost;
}

// --- Element-wise ops ---

struct PerElement {
  std::string_view op;  // without the '_' of the form that works in place
  int flops;            // for each element of the result
};

// One for arithmetic that processors have an instruction for, four for functions that they compute with a few, eight for those made of
// several functions. Comparisons, selections and copies compute nothing.
constexpr auto kElementWise = std::to_array<PerElement>({
    {"add", 1},
    {"sub", 1},
    {"rsub", 1},
    {"mul", 1},
    {"div", 1},
    {"true_divide", 1},
    {"floor_divide", 1},
    {"remainder", 1},
    {"fmod", 1},
    {"neg", 1},
    {"abs", 1},
    {"sign", 1},
    {"relu", 1},
    {"leaky_relu", 1},
    {"hardtanh", 1},
    {"clamp", 1},
    {"clamp_min", 1},
    {"clamp_max", 1},
    {"maximum", 1},
    {"minimum", 1},
    {"square", 1},
    {"reciprocal", 1},
    {"round", 1},
    {"floor", 1},
    {"ceil", 1},
    {"trunc", 1},
    {"addcmul", 3},
    {"addcdiv", 3},
    {"lerp", 3},
    {"threshold", 1},
    {"pow", 2},
    {"sqrt", 2},
    {"rsqrt", 2},
    {"exp", 4},
    {"exp2", 4},
    {"expm1", 4},
    {"log", 4},
    {"log2", 4},
    {"log10", 4},
    {"log1p", 4},
    {"sin", 4},
    {"cos", 4},
    {"tan", 4},
    {"atan", 4},
    {"atan2", 4},
    {"tanh", 4},
    {"sigmoid", 4},
    {"erf", 4},
    {"erfc", 4},
    {"silu", 5},
    {"mish", 8},
    {"elu", 5},
    {"softplus", 8},
    {"log_sigmoid_forward", 8},
    {"gelu", 8},
    {"hardswish", 4},
    {"hardsigmoid", 3},
    {"threshold_backward", 1},
    {"leaky_relu_backward", 2},
    {"hardtanh_backward", 1},
    {"hardswish_backward", 5},
    {"hardsigmoid_backward", 2},
    {"sigmoid_backward", 3},
    {"tanh_backward", 3},
    {"silu_backward", 8},
    {"gelu_backward", 16},
    {"elu_backward", 5},
    {"softplus_backward", 8},
    {"native_dropout_backward", 2},
    {"masked_fill", 0},
    {"where", 0},
    {"tril", 0},
    {"triu", 0},
    {"flip", 0},
    {"roll", 0},
    {"clone", 0},
    {"nan_to_num", 0},
    {"xlogy", 5},
    {"hypot", 4},
    {"bitwise_and", 0},
    {"bitwise_or", 0},
    {"bitwise_xor", 0},
    {"bitwise_not", 0},
    {"cumsum", 1},
    {"cumprod", 1},
    {"_conj_physical", 0},
});

// These give bool, whatever they compare.
constexpr auto kComparisons = std::to_array<std::string_view>({"eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite",
                                                               "logical_and", "logical_or", "logical_not", "logical_xor", "signbit"});

// These only write their first argument.
constexpr auto kFills = std::to_array<std::string_view>(
    {"fill_", "zero_", "normal_", "uniform_", "bernoulli_", "random_", "exponential_", "geometric_", "log_normal_", "cauchy_"});

bool is_one_of(std::span<const std::string_view> names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

// Sizes of all operands broadcast together, trailing dimensions aligned.
double broadcast_elements(const Call& call) {
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < call.size(); ++i) {
    const Sizes sizes = call.sizes(i);
    if (sizes.size() > result.size()) result.insert(result.begin(), sizes.size() - result.size(), 1);
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      std::int64_t& size = result[result.size() - sizes.size() + k];
      if (size == 1) size = sizes[k];
    }
  }
  return count(result);
}

// A tensor without dimensions does not change the type of a result.
ScalarType result_type(const Call& call) {
  std::optional<ScalarType> of_tensors, of_scalars;
  for (std::size_t i = 0; i < call.size(); ++i) {
    if (!call.is_tensor(i)) continue;
    std::optional<ScalarType>& into = call.sizes(i).empty() ? of_scalars : of_tensors;
    into = into ? promoted(*into, call.dtype(i)) : call.dtype(i);
  }
  return of_tensors ? *of_tensors : of_scalars.value_or(ScalarType::kOther);
}

bool has_tensor(const Call& call) {
  for (std::size_t i = 0; i < call.size(); ++i) {
    if (call.is_tensor(i)) return true;
  }
  return false;
}

Cost element_wise(Call& call, int flops_per_element, bool in_place, bool gives_bool) {
  if (!has_tensor(call) || (in_place && !call.is_tensor(0))) return std::nullopt;
  const ScalarType type = result_type(call);
  const double elements = in_place ? call.elements(0) : broadcast_elements(call);
  for (std::size_t i = 0; i < call.size(); ++i) call.read(i);
  if (in_place) {
    call.write(0);
  } else {
    const bool becomes_float = flops_per_element >= 2 && !is_floating(type) && type != ScalarType::kOther;
    call.write(elements, gives_bool ? ScalarType::kBool : becomes_float ? ScalarType::kFloat : type);
  }
  return call.cost(elements * flops_per_element, type);
}

std::optional<int> flops_per_element(std::string_view op) {
  const auto* const known = std::ranges::find(kElementWise, op, &PerElement::op);
  return known == kElementWise.end() ? std::nullopt : std::optional(known->flops);
}

// --- Reductions and normalisations ---

// Elements that are left of argument 0 when the dimensions that argument `dims_at` names are gone; all of them if it names none.
double reduced_elements(const Call& call, std::size_t dims_at) {
  const Sizes input = call.sizes(0);
  if (!call.is_number(dims_at)) return 1;
  double left = count(input);
  for (std::int64_t dim : call.at(dims_at)->values) {
    if (dim < 0) dim += static_cast<std::int64_t>(input.size());
    if (dim >= 0 && dim < static_cast<std::int64_t>(input.size()) && input[static_cast<std::size_t>(dim)] > 0)
      left /= static_cast<double>(input[static_cast<std::size_t>(dim)]);
  }
  return left;
}

struct Reduction {
  std::string_view op;
  int flops;  // for each element of the input
  std::size_t dims_at;
  int results;  // tensors of the reduced size
};

constexpr auto kReductions = std::to_array<Reduction>({
    {"sum", 1, 1, 1},
    {"nansum", 1, 1, 1},
    {"mean", 1, 1, 1},
    {"prod", 1, 1, 1},
    {"amax", 1, 1, 1},
    {"amin", 1, 1, 1},
    {"var", 4, 1, 1},
    {"std", 4, 1, 1},
    {"var_mean", 4, 1, 2},
    {"std_mean", 4, 1, 2},
    {"linalg_vector_norm", 2, 2, 1},
    {"norm", 2, 2, 1},
    {"logsumexp", 6, 1, 1},
    {"any", 0, 1, 1},
    {"all", 0, 1, 1},
    {"_adaptive_avg_pool2d", 1, 9, 1},
});

Cost reduction(const Reduction& known, Call& call) {
  if (!call.is_tensor(0)) return std::nullopt;
  const ScalarType type = call.dtype(0);
  call.read(std::size_t{0});
  double left = reduced_elements(call, known.dims_at);
  if (known.op == "_adaptive_avg_pool2d") {
    if (!call.is_number(1) || call.sizes(0).size() < 3) return std::nullopt;
    const Sizes input = call.sizes(0), output = call.at(1)->values;
    left = count(input.first(input.size() - 2)) * static_cast<double>(output[0]) * static_cast<double>(output.back());
  }
  call.write(left * known.results, type);
  return call.cost(call.elements(0) * known.flops, type);
}

// Ops that pass over some of their arguments once and write results as large as one of them.
struct Pass {
  std::string_view op;
  int flops;  // for each element of the argument `like`
  std::size_t like;
  int writes;                // results of that size
  std::array<int, 4> reads;  // the arguments that are read; -1: none
};

constexpr auto kPasses = std::to_array<Pass>({
    {"_softmax", 7, 0, 1, {0, -1, -1, -1}},
    {"_log_softmax", 7, 0, 1, {0, -1, -1, -1}},
    {"_softmax_backward_data", 4, 0, 1, {0, 1, -1, -1}},
    {"_log_softmax_backward_data", 7, 0, 1, {0, 1, -1, -1}},
    {"native_layer_norm", 8, 0, 1, {0, 2, 3, -1}},
    {"native_layer_norm_backward", 14, 1, 1, {0, 1, 5, 6}},
    {"_fused_rms_norm", 5, 0, 1, {0, 2, -1, -1}},
    {"_fused_rms_norm_backward", 10, 1, 1, {0, 1, 4, -1}},
    {"native_batch_norm", 8, 0, 1, {0, 1, 2, -1}},
    {"_native_batch_norm_legit", 8, 0, 1, {0, 1, 2, -1}},
    {"cudnn_batch_norm", 8, 0, 1, {0, 1, 2, -1}},
    {"miopen_batch_norm", 8, 0, 1, {0, 1, 2, -1}},
    {"_batch_norm_impl_index", 8, 0, 1, {0, 1, 2, -1}},
    {"native_batch_norm_backward", 14, 1, 1, {0, 1, 2, -1}},
    {"cudnn_batch_norm_backward", 14, 0, 1, {0, 1, 2, -1}},
    {"miopen_batch_norm_backward", 14, 0, 1, {0, 1, 2, -1}},
    {"native_group_norm", 8, 0, 1, {0, 1, 2, -1}},
    {"native_group_norm_backward", 14, 1, 1, {0, 1, 4, -1}},
    {"nll_loss_backward", 0, 1, 1, {2, -1, -1, -1}},
    {"mse_loss_backward", 3, 1, 1, {0, 1, 2, -1}},
    {"avg_pool2d_backward", 1, 1, 1, {0, -1, -1, -1}},
    {"_adaptive_avg_pool2d_backward", 1, 1, 1, {0, -1, -1, -1}},
    {"max_pool2d_with_indices_backward", 1, 1, 1, {0, 7, -1, -1}},
});

Cost pass(const Pass& known, Call& call) {
  if (!call.is_tensor(known.like)) return std::nullopt;
  for (const int argument : known.reads) {
    if (argument >= 0) call.read(static_cast<std::size_t>(argument));
  }
  const double elements = call.elements(known.like);
  const ScalarType type = call.dtype(known.like);
  call.write(elements * known.writes, type);
  return call.cost(elements * known.flops, type);
}

// --- Indexing, copies, lists ---

// Bytes of a dropout: a mask of one byte for each element besides.
Cost dropout(std::string_view, Arguments, Call& call) {
  if (!call.is_tensor(0)) return std::nullopt;
  call.read(std::size_t{0});
  call.write(call.elements(0), call.dtype(0));
  call.write(call.elements(0), ScalarType::kBool);
  return call.cost(2 * call.elements(0), call.dtype(0));
}

Cost copy(std::string_view, Arguments, Call& call) {
  if (!call.is_tensor(0) || !call.is_tensor(1)) return std::nullopt;
  call.write(0);
  call.read(1);
  return call.cost(0, call.dtype(0));
}

// weight, indices: a row of the weight for each index.
Cost embedding(std::string_view, Arguments, Call& call) {
  const Sizes weight = call.sizes(0);
  if (weight.size() != 2 || !call.is_tensor(1)) return std::nullopt;
  const double moved = call.elements(1) * static_cast<double>(weight[1]);
  call.read(1);
  call.write(2 * moved, call.dtype(0));
  return call.cost(0, call.dtype(0));
}

// grad_output, indices, num_weights: a gradient of all rows is written, whatever rows were used.
Cost embedding_backward(std::string_view, Arguments, Call& call) {
  if (!call.is_tensor(0) || call.sizes(0).empty() || !call.is_number(2)) return std::nullopt;
  call.read(std::size_t{0});
  call.read(1);
  call.write(static_cast<double>(call.at(2)->values[0]) * static_cast<double>(call.sizes(0).back()), call.dtype(0));
  return call.cost(call.elements(0), call.dtype(0));
}

// self, dim, index: as many elements are read from self as the index selects.
Cost gather(std::string_view op, Arguments, Call& call) {
  if (!call.is_tensor(0) || !call.is_tensor(2) || !call.is_number(1)) return std::nullopt;
  double selected = call.elements(2);
  if (op == "index_select") {
    const Sizes self = call.sizes(0);
    std::int64_t dim = call.at(1)->values[0];
    if (dim < 0) dim += static_cast<std::int64_t>(self.size());
    if (dim < 0 || dim >= static_cast<std::int64_t>(self.size()) || self[static_cast<std::size_t>(dim)] == 0) return std::nullopt;
    selected *= count(self) / static_cast<double>(self[static_cast<std::size_t>(dim)]);
  }
  call.read(2);
  call.write(2 * selected, call.dtype(0));
  return call.cost(0, call.dtype(0));
}

Cost concatenation(std::string_view, Arguments, Call& call) {
  if (call.list(0).empty()) return std::nullopt;
  for (const Argument& tensor : call.list(0)) {
    call.read(tensor);
    call.write(count(tensor.values), tensor.dtype);
  }
  return call.cost(0, call.list(0)[0].dtype);
}

// input and what the output's size follows from: kernel, stride, padding, dilation.
Cost pool(std::string_view op, Arguments, Call& call) {
  const Sizes input = call.sizes(0);
  if (input.size() < 3 || !call.is_number(1)) return std::nullopt;
  const bool is_max = op == "max_pool2d_with_indices";
  const auto number = [&](std::size_t argument, std::size_t i, std::int64_t otherwise) {
    if (!call.is_number(argument)) return otherwise;
    const Sizes values = call.at(argument)->values;
    return values.size() == 1 ? values[0] : values[std::min(i, values.size() - 1)];
  };
  double positions = 1, window = 1;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t size = input[input.size() - 2 + i], kernel = number(1, i, 1), stride = number(2, i, kernel),
                       padding = number(3, i, 0);
    const std::int64_t dilation = is_max ? number(4, i, 1) : 1;
    if (kernel <= 0 || stride <= 0 || dilation <= 0) return std::nullopt;
    positions *= static_cast<double>(std::max<std::int64_t>(0, (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1));
    window *= static_cast<double>(kernel);
  }
  const double outputs = count(input.first(input.size() - 2)) * positions;
  call.read(std::size_t{0});
  call.write(outputs, call.dtype(0));
  if (is_max) call.write(outputs, ScalarType::kInt64);
  return call.cost(outputs * window, call.dtype(0));
}

Cost loss(std::string_view op, Arguments, Call& call) {
  if (!call.is_tensor(0) || !call.is_tensor(1)) return std::nullopt;
  if (op == "nll_loss_forward") {  // one probability of each row
    call.read(1);
    call.write(call.elements(1), call.dtype(0));
    return call.cost(call.elements(1), call.dtype(0));
  }
  const bool is_reduced = !call.is_number(2) || call.at(2)->values[0] != 0;
  call.read(std::size_t{0});
  call.read(1);
  call.write(is_reduced ? 1 : call.elements(0), call.dtype(0));
  return call.cost(3 * call.elements(0), call.dtype(0));
}

// --- Optimizers and lists of tensors ---

double list_elements(const Call& call, std::size_t i) {
  double all = 0;
  for (const Argument& tensor : call.list(i)) all += count(tensor.values);
  return all;
}

void move_list(Call& call, std::size_t i, int times) {
  for (const Argument& tensor : call.list(i)) call.write(times * elements_in_memory(tensor), tensor.dtype);
}

// self, grads, and lists of state: all are read, and all but the gradients are written.
Cost fused_optimizer(std::string_view op, Arguments, Call& call) {
  if (call.list(0).empty()) return std::nullopt;
  const bool is_adam = op.starts_with("_fused_adam");
  move_list(call, 0, 2);
  move_list(call, 1, 1);
  for (std::size_t i = 2; i < (is_adam ? 5U : 3U); ++i) move_list(call, i, 2);
  return call.cost(list_elements(call, 0) * (is_adam ? 14 : 4), call.list(0)[0].dtype);
}

Cost foreach_list(std::string_view op, Call& call) {
  if (call.list(0).empty()) return std::nullopt;
  op.remove_prefix(std::string_view("_foreach_").size());
  const bool in_place = op.ends_with('_');
  if (in_place) op.remove_suffix(1);
  const ScalarType type = call.list(0)[0].dtype;
  const double elements = list_elements(call, 0);
  if (op == "norm") {
    move_list(call, 0, 1);
    return call.cost(2 * elements, type);
  }
  if (op == "zero" || op == "copy") {
    move_list(call, 0, 1);
    if (op == "copy") move_list(call, 1, 1);
    return call.cost(0, type);
  }
  const std::optional<int> flops = flops_per_element(op);
  if (!flops) return std::nullopt;
  move_list(call, 0, 2);  // the result, in place or not, is as large as the first list
  for (std::size_t i = 1; i < call.size(); ++i) move_list(call, i, 1);
  return call.cost(elements * *flops, type);
}

Cost unscale(std::string_view, Arguments, Call& call) {
  if (call.list(0).empty()) return std::nullopt;
  move_list(call, 0, 2);
  return call.cost(2 * list_elements(call, 0), call.list(0)[0].dtype);
}

// --- The table ---

using Model = Cost (*)(std::string_view op, Arguments arguments, Call& call);

struct Entry {
  std::string_view op;
  Model model;
};

constexpr auto kModels = std::to_array<Entry>({
    {"mm", plain_product},
    {"addmm", plain_product},
    {"addmm_", plain_product},
    {"bmm", plain_product},
    {"baddbmm", plain_product},
    {"baddbmm_", plain_product},
    {"matmul", plain_product},
    {"linear", linear},
    {"_scaled_mm", scaled_product},
    {"_int_mm", scaled_product},
    {"mv", matrix_vector},
    {"addmv", matrix_vector},
    {"addmv_", matrix_vector},
    {"dot", matrix_vector},
    {"conv1d", convolution},
    {"conv2d", convolution},
    {"conv3d", convolution},
    {"conv_transpose1d", convolution},
    {"conv_transpose2d", convolution},
    {"conv_transpose3d", convolution},
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
    {"_scaled_dot_product_flash_attention_backward", attention},
    {"_scaled_dot_product_flash_attention_for_cpu_backward", attention},
    {"_scaled_dot_product_efficient_attention_backward", attention},
    {"_scaled_dot_product_cudnn_attention_backward", attention},
    {"native_dropout", dropout},
    {"copy_", copy},
    {"embedding", embedding},
    {"embedding_dense_backward", embedding_backward},
    {"index_select", gather},
    {"gather", gather},
    {"cat", concatenation},
    {"stack", concatenation},
    {"max_pool2d_with_indices", pool},
    {"avg_pool2d", pool},
    {"nll_loss_forward", loss},
    {"mse_loss", loss},
    {"_fused_adam_", fused_optimizer},
    {"_fused_adamw_", fused_optimizer},
    {"_fused_sgd_", fused_optimizer},
    {"_fused_adagrad_", fused_optimizer},
    {"_amp_foreach_non_finite_check_and_unscale_", unscale},
});

Cost listed_cost(std::string_view op, Arguments arguments, Call& call) {
  if (const auto* const at = std::ranges::find(kModels, op, &Entry::op); at != kModels.end()) return at->model(op, arguments, call);
  if (const auto* const at = std::ranges::find(kReductions, op, &Reduction::op); at != kReductions.end()) return reduction(*at, call);
  if (const auto* const at = std::ranges::find(kPasses, op, &Pass::op); at != kPasses.end()) return pass(*at, call);
  if (op.starts_with("_foreach_")) return foreach_list(op, call);
  if (is_one_of(kFills, op)) {
    if (!call.is_tensor(0)) return std::nullopt;
    call.write(0);
    return call.cost(0, call.dtype(0));
  }
  const bool in_place = op.ends_with('_');
  if (in_place) op.remove_suffix(1);
  if (const std::optional<int> flops = flops_per_element(op)) return element_wise(call, *flops, in_place, false);
  if (is_one_of(kComparisons, op)) return element_wise(call, 0, in_place, true);
  return std::nullopt;
}

// --- Kernels that Inductor generated ---

// What follows the prefix of their names: the fused ops, joined by '_'.
std::optional<std::string_view> fused_ops(std::string_view name) {
  static constexpr auto kPrefixes = std::to_array<std::string_view>({"triton_poi_fused_", "triton_red_fused_", "triton_per_fused_"});
  for (const std::string_view prefix : kPrefixes) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return std::nullopt;
}

// Every buffer among the arguments is passed over once.
Cost fused_kernel_cost(std::string_view ops, Arguments arguments) {
  Call call(arguments);
  double most = 0;
  ScalarType type = ScalarType::kOther;
  for (std::size_t i = 0; i < call.size(); ++i) {
    if (!call.is_tensor(i)) continue;
    call.read(i);
    if (call.elements(i) > most) most = call.elements(i), type = call.dtype(i);
  }
  if (most == 0) return std::nullopt;
  double flops = 0;  // names of ops hold '_' too, so that only those of one word are found
  for (std::string_view rest = ops; !rest.empty();) {
    const std::size_t end = std::min(rest.find('_'), rest.size());
    flops += flops_per_element(rest.substr(0, end)).value_or(0);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const OpCost cost = call.cost(flops * most, type);
  return cost.has_bytes ? Cost(cost) : std::nullopt;
}

}  // namespace

int element_size(ScalarType type) {
  switch (type) {
    case ScalarType::kUint8:
    case ScalarType::kInt8:
    case ScalarType::kBool: return 1;
    case ScalarType::kInt16:
    case ScalarType::kHalf:
    case ScalarType::kBFloat16: return 2;
    case ScalarType::kInt32:
    case ScalarType::kFloat: return 4;
    case ScalarType::kInt64:
    case ScalarType::kDouble: return 8;
    case ScalarType::kOther: return 0;
  }
  return 0;
}

bool is_made_of_others(std::string_view op) {
  static constexpr auto kOps = std::to_array<std::string_view>(
      {"aten::matmul", "aten::linear", "aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention_math"});
  return is_one_of(kOps, op);
}

bool has_cost_model(std::string_view op) {
  if (fused_ops(op)) return true;
  if (op.starts_with("aten::")) op.remove_prefix(6);
  const auto is_op = [&](const auto& entry) { return entry.op == op; };
  if (std::ranges::any_of(kModels, is_op) || std::ranges::any_of(kReductions, is_op) || std::ranges::any_of(kPasses, is_op)) return true;
  if (op.starts_with("_foreach_") || is_one_of(kFills, op)) return true;
  if (op.ends_with('_')) op.remove_suffix(1);
  return flops_per_element(op).has_value() || is_one_of(kComparisons, op);
}

std::optional<OpCost> op_cost(std::string_view op, Arguments arguments) {
  if (const auto fused = fused_ops(op)) return fused_kernel_cost(*fused, arguments);
  if (op.starts_with("aten::")) op.remove_prefix(6);
  Call call(arguments);
  Cost cost = listed_cost(op, arguments, call);
  // An op that computes nothing and of which nothing else is known has no cost to tell.
  if (cost && !cost->has_bytes && !cost->is_product) return std::nullopt;
  return cost;
}

}  // namespace mindtorch::analyze

// The preparation of pointwise ops.
#include "mindtorch/runtime/pointwise.h"

#include <bit>

#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"

namespace mindtorch {

namespace {

std::uint64_t number_bits(const Scalar& number, ScalarType type) {
  std::uint64_t bits = 0;
  visit_types(type, [&]<class T>() {
    const T value = number.to<T>();
    std::memcpy(&bits, &value, sizeof(T));
  });
  return bits;
}

// A new output. It has the layout of the inputs if they all have the same dense layout, else it is contiguous.
template <std::size_t N>
Tensor make_output(const std::array<Operand, N>& inputs, IntArrayRef sizes, ScalarType type, Device device) {
  const Tensor* first = nullptr;
  for (const Operand& input : inputs) {
    if (input.tensor == nullptr || input.tensor->dim() == 0) continue;
    if (input.tensor->is_contiguous() || input.tensor->sizes() != sizes) return new_tensor(sizes, type, device);
    if (first == nullptr) first = input.tensor;
    if (input.tensor->strides() != first->strides()) return new_tensor(sizes, type, device);
  }
  if (first == nullptr || !is_dense(sizes, first->strides())) return new_tensor(sizes, type, device);
  return new_strided_tensor(sizes, first->strides(), type, device);
}

// True if `input` and `out` share memory at different positions, so that a loop over both would read elements that it has written before.
bool overlaps_in_part(const Tensor& out, const Tensor& input) {
  if (out.storage() != input.storage()) return false;
  if (out.data_ptr() == input.data_ptr() && out.sizes() == input.sizes() && out.strides() == input.strides()) return false;
  const auto range = [](const Tensor& tensor) {
    std::int64_t last = tensor.storage_offset();
    for (std::int64_t d = 0; d < tensor.dim(); ++d) last += (tensor.sizes()[d] - 1) * tensor.strides()[d];
    return std::pair(tensor.storage_offset(), last);
  };
  const auto [out_first, out_last] = range(out);
  const auto [first, last] = range(input);
  return first <= out_last && out_first <= last;
}

// True if every input is a contiguous tensor of this type, device and shape. This common case needs no planning.
template <std::size_t N>
bool is_simple(const std::array<Operand, N>& inputs, const Tensor& first, ScalarType type) {
  if (!first.is_contiguous()) return false;
  for (const Operand& input : inputs)
    if (input.tensor == nullptr || (input.is_converted && input.tensor->dtype() != type) || !input.tensor->is_contiguous() ||
        input.tensor->sizes() != first.sizes() || input.tensor->device() != first.device() || overlaps_in_part(first, *input.tensor))
      return false;
  return true;
}

}  // namespace

DimVector broadcast_shape(IntArrayRef a, IntArrayRef b, std::string_view op) {
  if (a == b) return a;
  const std::size_t dims = std::max(a.size(), b.size());
  DimVector result;
  result.resize(dims);
  for (std::size_t i = 0; i < dims; ++i) {
    const std::int64_t from_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t from_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1)
      throw_error(op,
                  "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}; the shapes are {} and {}",
                  from_a, from_b, dims - 1 - i, to_string(a), to_string(b));
    result[dims - 1 - i] = from_a == 1 ? from_b : from_a;
  }
  return result;
}

bool is_expandable_to(IntArrayRef sizes, IntArrayRef target) {
  if (sizes.size() > target.size()) return false;
  for (std::size_t i = 1; i <= sizes.size(); ++i)
    if (sizes[sizes.size() - i] != 1 && sizes[sizes.size() - i] != target[target.size() - i]) return false;
  return true;
}

Device common_device(std::initializer_list<const Tensor*> tensors, std::string_view op) {
  const Tensor* chosen = nullptr;
  for (const Tensor* tensor : tensors) {
    if (tensor == nullptr || !tensor->defined()) continue;
    const bool is_movable = tensor->dim() == 0 && tensor->is_cpu();
    if (chosen == nullptr || (chosen->dim() == 0 && chosen->is_cpu()))
      chosen = tensor;
    else if (!is_movable && tensor->device() != chosen->device())
      throw_error(op, "Expected all tensors to be on the same device, but found at least two devices, {} and {}!", chosen->device().str(),
                  tensor->device().str());
  }
  return chosen != nullptr ? chosen->device() : Device();
}

void check_writable(const Tensor& out, std::string_view op) {
  if (!out.is_contiguous() && may_overlap(out.sizes(), out.strides()))
    throw_error(op,
                "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() "
                "the tensor "
                "before performing the operation.");
}

template <std::size_t N>
void Pointwise<N>::make(std::string_view op, const std::array<Operand, N>& inputs, ScalarType compute, ScalarType out_type,
                        const Tensor* written) {
  type = compute;
  const Tensor* first = written;
  for (const Operand& input : inputs)
    if (first == nullptr) first = input.tensor;
  if (is_simple(inputs, *first, compute)) {
    device = first->device();
    out = written != nullptr ? *written : new_tensor(first->sizes(), out_type, device);
    plan.dims = 1;
    plan.numel = plan.sizes[0] = out.numel();
    plan.data[0] = static_cast<char*>(out.data_ptr());
    plan.strides[0][0] = static_cast<std::int64_t>(element_size(out_type));
    for (std::size_t i = 0; i < N; ++i) {
      plan.data[i + 1] = static_cast<char*>(inputs[i].tensor->data_ptr());
      plan.strides[0][i + 1] = static_cast<std::int64_t>(inputs[i].tensor->element_size());
    }
    return;
  }

  std::array<const Tensor*, N + 1> tensors{written};
  for (std::size_t i = 0; i < N; ++i) tensors[i + 1] = inputs[i].tensor;
  const Tensor* chosen = nullptr;
  DimVector sizes;
  for (const Tensor* tensor : tensors) {
    if (tensor == nullptr) continue;
    if (chosen == nullptr || (chosen->dim() == 0 && chosen->is_cpu())) chosen = tensor;
    common_device({chosen, tensor}, op);
    sizes = broadcast_shape(sizes, tensor->sizes(), op);
  }
  device = chosen->device();
  if (written != nullptr && IntArrayRef(sizes) != written->sizes())
    throw_error(op, "output with shape {} doesn't match the broadcast shape {}", to_string(written->sizes()), to_string(sizes));
  if (written != nullptr) check_writable(*written, op);
  out = written != nullptr ? *written : make_output(inputs, sizes, out_type, device);

  std::array<LoopOperand, N + 1> operands;
  operands[0].tensor = &out;
  for (std::size_t i = 0; i < N; ++i) {
    const Tensor* tensor = inputs[i].tensor;
    if (tensor == nullptr) {
      operands[i + 1].immediate = number_bits(inputs[i].scalar, compute);
    } else if (tensor->device() != device) {  // a zero-dimensional CPU tensor
      operands[i + 1].immediate = number_bits(tensor->item(), inputs[i].is_converted ? compute : tensor->dtype());
    } else {
      if (inputs[i].is_converted && tensor->dtype() != compute) {
        converted_[i] = tensor->to(compute);
        tensor = &converted_[i];
      } else if (written != nullptr && overlaps_in_part(out, *tensor)) {
        converted_[i] = tensor->clone();
        tensor = &converted_[i];
      }
      operands[i + 1].tensor = tensor;
    }
  }
  plan = make_loop_plan<N + 1>(sizes, operands);
}

template struct Pointwise<1>;
template struct Pointwise<2>;
template struct Pointwise<3>;

}  // namespace mindtorch

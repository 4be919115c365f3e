// Recording of tensors and numbers.
#include "mindtorch/runtime/dispatch/arguments.h"

namespace mindtorch {

namespace {

trace::ScalarType recorded_type(ScalarType type) { return static_cast<trace::ScalarType>(type); }  // both have torch's numbers

}  // namespace

void write_input(record::InputWriter& writer, const Tensor& tensor) noexcept {
  if (!tensor.defined()) return writer.none();
  const TensorImpl& impl = *tensor.impl();
  writer.tensor(recorded_type(impl.dtype()), impl.sizes().data(), impl.strides().data(), static_cast<std::uint32_t>(impl.dim()),
                impl.is_contiguous());
}

void write_input(record::InputWriter& writer, TensorList tensors) noexcept {
  writer.tensor_list(static_cast<std::uint32_t>(tensors.size()));
  for (const Tensor& tensor : tensors) {
    if (!tensor.defined()) {
      writer.list_tensor(trace::ScalarType::kOther, nullptr, nullptr, 0, true);
      continue;
    }
    const TensorImpl& impl = *tensor.impl();
    writer.list_tensor(recorded_type(impl.dtype()), impl.sizes().data(), impl.strides().data(), static_cast<std::uint32_t>(impl.dim()),
                       impl.is_contiguous());
  }
}

void write_input(record::InputWriter& writer, const Scalar& scalar) noexcept {
  if (scalar.is_floating_point())
    writer.real(scalar.to_double());
  else if (scalar.is_boolean())
    writer.boolean(scalar.to_bool());
  else
    writer.integer(scalar.to_int());
}

}  // namespace mindtorch

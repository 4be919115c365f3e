// From IValues to the words of the side log.
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type_base.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mindtorch/bridges/torch/kept_addresses.h"
#include "mindtorch/bridges/torch/op_details.h"
#include "mindtorch/record/input_writer.h"
#include "mindtorch/trace/tensor_identity.h"

namespace mindtorch::torch_bridge {
namespace {

using record::InputWriter;

// Longer lists of numbers are left out, as torch does.
constexpr std::size_t kLongestNumberList = 30;

// Torch has no sizes to show for the others.
bool has_sizes(const c10::TensorImpl& tensor) {
  return &tensor != c10::UndefinedTensorImpl::singleton() && !tensor.is_nested() && !tensor.has_symbolic_sizes_strides();
}

// The strides, or null if they follow from the sizes. Narrower than is_contiguous(), which does not look at dimensions of size 1.
[[gnu::always_inline]] inline const std::int64_t* own_strides(const c10::TensorImpl& tensor, c10::IntArrayRef sizes) {
  const std::int64_t* strides = tensor.strides().data();
  std::int64_t expected = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (strides[i] != expected) return strides;
    expected *= std::max<std::int64_t>(sizes[i], 1);
  }
  return nullptr;
}

trace::ScalarType type_of(const c10::TensorImpl& tensor) {
  return static_cast<trace::ScalarType>(c10::typeMetaToScalarType(tensor.dtype()));
}

// The tensors of a row that are to be identified, in the order in which they were written.
using Tensors = c10::SmallVector<c10::TensorImpl*, 16>;

void write_tensor(InputWriter& writer, c10::TensorImpl& tensor, Tensors* identified) {
  if (!has_sizes(tensor)) return writer.none();
  if (identified != nullptr) identified->push_back(&tensor);
  const c10::IntArrayRef sizes = tensor.sizes();
  const auto ndim = static_cast<std::uint32_t>(sizes.size());
  if (tensor.layout() != at::kStrided) [[unlikely]]
    return writer.tensor_without_strides(type_of(tensor), sizes.data(), ndim);
  const std::int64_t* strides = own_strides(tensor, sizes);
  writer.tensor(type_of(tensor), sizes.data(), strides, ndim, strides == nullptr);
}

void write_tensors(InputWriter& writer, c10::ArrayRef<c10::IValue> values, Tensors* identified) {
  writer.tensor_list(static_cast<std::uint32_t>(values.size()));
  for (const c10::IValue& value : values) {
    c10::TensorImpl& tensor = *value.toTensor().unsafeGetTensorImpl();
    if (identified != nullptr) identified->push_back(&tensor);
    if (!has_sizes(tensor)) {
      writer.list_tensor(trace::ScalarType::kOther, nullptr, nullptr, 0, true);
      continue;
    }
    const c10::IntArrayRef sizes = tensor.sizes();
    const auto ndim = static_cast<std::uint32_t>(sizes.size());
    if (tensor.layout() != at::kStrided) [[unlikely]] {
      writer.list_tensor_without_strides(type_of(tensor), sizes.data(), ndim);
      continue;
    }
    const std::int64_t* strides = own_strides(tensor, sizes);
    writer.list_tensor(type_of(tensor), sizes.data(), strides, ndim, strides == nullptr);
  }
}

void write_numbers(InputWriter& writer, c10::ArrayRef<c10::IValue> values) {
  using Kind = trace::Input::Kind;
  const auto all = [&](auto is) { return std::all_of(values.begin(), values.end(), is); };
  const auto count = static_cast<std::uint32_t>(values.size());
  if (all([](const c10::IValue& value) { return value.isInt(); }))
    writer.numbers(Kind::kIntList, count, [&](std::uint32_t i) { return values[i].toInt(); });
  else if (all([](const c10::IValue& value) { return value.isBool(); }))
    writer.numbers(Kind::kBoolList, count, [&](std::uint32_t i) { return std::int64_t{values[i].toBool()}; });
  else if (all([](const c10::IValue& value) { return value.isDouble(); }))
    writer.numbers(Kind::kDoubleList, count, [&](std::uint32_t i) { return values[i].toDouble(); });
  else
    writer.other();
}

// IValue::isTensorList() copies shared pointers.
bool holds_tensors(const c10::IValue& list) {
  const auto* object = static_cast<const c10::intrusive_ptr_target*>(list.internalToPointer());
  return static_cast<const c10::detail::ListImpl*>(object)->elementType->kind() == c10::TypeKind::TensorType;
}

// To ask a list for its type takes longer than to look at a number in it.
void write_list(InputWriter& writer, const c10::IValue& list, Tensors* identified) {
  const auto values = list.toListRef();
  const bool has_numbers = !values.empty() && values[0].isScalar();
  if (!has_numbers && holds_tensors(list))
    write_tensors(writer, values, identified);
  else if ((has_numbers || values.empty()) && values.size() <= kLongestNumberList)
    write_numbers(writer, values);
  else
    writer.other();
}

void write_value(InputWriter& writer, const c10::IValue& value, Tensors* identified) {
  if (value.isTensor())
    write_tensor(writer, *value.unsafeToTensorImpl(), identified);
  else if (value.isInt())
    writer.integer(value.toInt());
  else if (value.isDouble())
    writer.real(value.toDouble());
  else if (value.isBool())
    writer.boolean(value.toBool());
  else if (value.isNone())
    writer.none();
  else if (value.isList())
    write_list(writer, value, identified);
  else
    writer.other();
}

// Without the check of torch's own accessor, which throws for tensors that must not be read (fake ones).
const void* data_of(c10::StorageImpl& storage) {
  if constexpr (requires { storage._mutable_data_ptr_no_checks(); })
    return storage._mutable_data_ptr_no_checks().get();
  else
    return storage.data();
}

trace::TensorIdentity identity_of(c10::TensorImpl& tensor) {
  if (!has_sizes(tensor)) return {};
  keep_address(tensor);
  const bool has_storage = tensor.has_storage();
  const void* data = has_storage ? data_of(*tensor.unsafe_storage().unsafeGetStorageImpl()) : nullptr;
  const c10::Device device = tensor.device();
  return {reinterpret_cast<std::uintptr_t>(&tensor),
          reinterpret_cast<std::uintptr_t>(data),
          has_storage ? tensor.storage_offset() : 0,
          {static_cast<trace::DeviceType>(device.type()), static_cast<std::uint8_t>(device.has_index() ? device.index() : 0)},
          static_cast<std::uint8_t>(tensor.layout())};
}

void write_identities(InputWriter& writer, const Tensors& tensors) {
  if (tensors.empty()) return;
  writer.words(trace::kIdentities, static_cast<std::uint32_t>(trace::kIdentityWords * tensors.size()), [&](std::int64_t* at) {
    for (c10::TensorImpl* tensor : tensors) {
      const trace::TensorIdentity identity = identity_of(*tensor);
      for (std::size_t word = 0; word < trace::kIdentityWords; ++word) *at++ = trace::identity_word(identity, word);
    }
  });
}

}  // namespace

void record_inputs(c10::ArrayRef<const c10::IValue> inputs, record::Slot* slot) {
  if (inputs.empty()) return;
  InputWriter writer(slot);
  for (const c10::IValue& input : inputs) write_value(writer, input, nullptr);
}

void record_identified_inputs(c10::ArrayRef<const c10::IValue> inputs, record::Slot* slot) {
  if (inputs.empty()) return;
  Tensors tensors;
  InputWriter writer(slot);
  for (const c10::IValue& input : inputs) write_value(writer, input, &tensors);
  write_identities(writer, tensors);
}

}  // namespace mindtorch::torch_bridge

// What the dispatcher needs for each C++ type that may be an argument or a result of an op: its schema type, the keys and the device that
// it contributes, how it is recorded, and how it is made from a Value. A new argument type is added only here.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "mindtorch/base/export.h"
#include "mindtorch/record/input_writer.h"
#include "mindtorch/runtime/dispatch/optional_tensor_list.h"
#include "mindtorch/runtime/dispatch/schema.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

class Generator;

// ---- schema types ----

template <class T>
struct SchemaTypeOf;
#define MINDTORCH_SCHEMA_TYPE(cpp_type, ...)        \
  template <>                                       \
  struct SchemaTypeOf<cpp_type> {                   \
    static constexpr SchemaType value{__VA_ARGS__}; \
  }
MINDTORCH_SCHEMA_TYPE(Tensor, SchemaType::Base::kTensor);
MINDTORCH_SCHEMA_TYPE(OptionalTensor, SchemaType::Base::kTensor, false, true);
MINDTORCH_SCHEMA_TYPE(TensorList, SchemaType::Base::kTensor, true);
MINDTORCH_SCHEMA_TYPE(OptionalTensorList, SchemaType::Base::kTensor, true, false, true);
MINDTORCH_SCHEMA_TYPE(TensorVector, SchemaType::Base::kTensor, true);
MINDTORCH_SCHEMA_TYPE(Scalar, SchemaType::Base::kScalar);
MINDTORCH_SCHEMA_TYPE(std::optional<Scalar>, SchemaType::Base::kScalar, false, true);
MINDTORCH_SCHEMA_TYPE(std::int64_t, SchemaType::Base::kInt);
MINDTORCH_SCHEMA_TYPE(std::optional<std::int64_t>, SchemaType::Base::kInt, false, true);
MINDTORCH_SCHEMA_TYPE(double, SchemaType::Base::kFloat);
MINDTORCH_SCHEMA_TYPE(std::optional<double>, SchemaType::Base::kFloat, false, true);
MINDTORCH_SCHEMA_TYPE(bool, SchemaType::Base::kBoolean);
MINDTORCH_SCHEMA_TYPE(std::optional<bool>, SchemaType::Base::kBoolean, false, true);
MINDTORCH_SCHEMA_TYPE(IntArrayRef, SchemaType::Base::kInt, true);
MINDTORCH_SCHEMA_TYPE(std::optional<IntArrayRef>, SchemaType::Base::kInt, true, true);
MINDTORCH_SCHEMA_TYPE(std::string_view, SchemaType::Base::kString);
MINDTORCH_SCHEMA_TYPE(std::optional<std::string_view>, SchemaType::Base::kString, false, true);
MINDTORCH_SCHEMA_TYPE(ScalarType, SchemaType::Base::kScalarType);
MINDTORCH_SCHEMA_TYPE(std::optional<ScalarType>, SchemaType::Base::kScalarType, false, true);
MINDTORCH_SCHEMA_TYPE(std::optional<Layout>, SchemaType::Base::kLayout, false, true);
MINDTORCH_SCHEMA_TYPE(Device, SchemaType::Base::kDevice);
MINDTORCH_SCHEMA_TYPE(std::optional<Device>, SchemaType::Base::kDevice, false, true);
MINDTORCH_SCHEMA_TYPE(std::optional<Generator*>, SchemaType::Base::kGenerator, false, true);
MINDTORCH_SCHEMA_TYPE(std::optional<MemoryFormat>, SchemaType::Base::kMemoryFormat, false, true);
#undef MINDTORCH_SCHEMA_TYPE
// bool[3]: which of its three results a backward op should compute.
template <std::size_t N>
struct SchemaTypeOf<std::array<bool, N>> {
  static constexpr SchemaType value{SchemaType::Base::kBoolean, true};
};

// ---- keys and device ----

template <class T>
void add_keys(DispatchKeySet&, const T&) {}
inline void add_keys(DispatchKeySet& keys, const Tensor& tensor) {
  if (tensor.defined()) keys = keys | tensor.impl()->keys();
}
inline void add_keys(DispatchKeySet& keys, const OptionalTensor& tensor) {
  if (tensor) add_keys(keys, *tensor);
}
inline void add_keys(DispatchKeySet& keys, const TensorList& tensors) {
  for (const Tensor& tensor : tensors) add_keys(keys, tensor);
}
// The indexed tensor determines the device of a call. An index may be on another device, and has no gradient.
inline void add_keys(DispatchKeySet&, const OptionalTensorList&) {}

// The first tensor determines the device of a call. Without tensors, a device argument does.
struct CallDevice {
  std::optional<Device> of_tensor, asked;
  Device get() const { return of_tensor ? *of_tensor : asked.value_or(Device()); }

  template <class T>
  void see(const T&) {}
  void see(const Tensor& tensor) {
    if (!of_tensor && tensor.defined()) of_tensor = tensor.device();
  }
  void see(const OptionalTensor& tensor) {
    if (tensor) see(*tensor);
  }
  void see(const TensorList& tensors) {
    for (const Tensor& tensor : tensors) see(tensor);
  }
  void see(const std::optional<Device>& device) { asked = device; }
};

// ---- autograd ----

// Calls f(tensor) for each tensor of an argument. An absent tensor is passed as an undefined one, so that positions are kept.
template <class T, class F>
void each_tensor(const T&, F&&) {}
template <class F>
void each_tensor(const Tensor& tensor, F&& f) {
  f(tensor);
}
template <class F>
void each_tensor(const OptionalTensor& tensor, F&& f) {
  f(tensor ? *tensor : Tensor());
}
template <class F>
void each_tensor(const TensorList& tensors, F&& f) {
  for (const Tensor& tensor : tensors) f(tensor);
}
template <class F>
void each_tensor(const OptionalTensorList& tensors, F&& f) {
  for (const Tensor& tensor : tensors) f(tensor);
}
template <class F>
void each_tensor(const TensorVector& tensors, F&& f) {
  for (const Tensor& tensor : tensors) f(tensor);
}
template <class... Ts, class F>
void each_tensor(const std::tuple<Ts...>& results, F&& f) {
  std::apply([&](const auto&... result) { (each_tensor(result, f), ...); }, results);
}

// ---- recording ----

MINDTORCH_EXPORT void write_input(record::InputWriter& writer, const Tensor& tensor) noexcept;
MINDTORCH_EXPORT void write_input(record::InputWriter& writer, TensorList tensors) noexcept;
MINDTORCH_EXPORT void write_input(record::InputWriter& writer, const Scalar& scalar) noexcept;
inline void write_input(record::InputWriter& writer, std::int64_t value) noexcept { writer.integer(value); }
inline void write_input(record::InputWriter& writer, double value) noexcept { writer.real(value); }
inline void write_input(record::InputWriter& writer, bool value) noexcept { writer.boolean(value); }
inline void write_input(record::InputWriter& writer, IntArrayRef values) noexcept {
  writer.integers(values.data(), static_cast<std::uint32_t>(values.size()));
}
template <std::size_t N>
void write_input(record::InputWriter& writer, const std::array<bool, N>& values) noexcept {
  writer.numbers(trace::Input::Kind::kBoolList, N, [&](std::uint32_t i) { return std::int64_t{values[i]}; });
}
inline void write_input(record::InputWriter& writer, std::string_view text) noexcept { writer.text(text); }
inline void write_input(record::InputWriter& writer, ScalarType type) noexcept { writer.integer(static_cast<std::int64_t>(type)); }
inline void write_input(record::InputWriter& writer, Layout layout) noexcept { writer.integer(static_cast<std::int64_t>(layout)); }
inline void write_input(record::InputWriter& writer, MemoryFormat format) noexcept { writer.integer(static_cast<std::int64_t>(format)); }
inline void write_input(record::InputWriter& writer, Device) noexcept { writer.other(); }
inline void write_input(record::InputWriter& writer, Generator*) noexcept { writer.other(); }
template <class T>
void write_input(record::InputWriter& writer, const std::optional<T>& value) noexcept {
  if (value)
    write_input(writer, *value);
  else
    writer.none();
}

}  // namespace mindtorch

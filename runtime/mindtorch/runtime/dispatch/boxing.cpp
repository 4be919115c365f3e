// Conversions between Values and C++ types.
#include "mindtorch/runtime/dispatch/boxing.h"

namespace mindtorch {

namespace {

std::string_view kind_of(const Value& value) {
  static constexpr std::string_view kNames[] = {"None",  "Tensor",  "Tensor[]", "bool",   "int",      "float",
                                                "int[]", "float[]", "str",      "Device", "Generator"};
  return kNames[value.index()];
}

template <class T>
const T& expect(const FunctionSchema& schema, std::size_t argument, const Value& value) {
  const T* found = std::get_if<T>(&value);
  if (found == nullptr) fail_unboxing(schema, argument, value);
  return *found;
}

}  // namespace

void fail_unboxing(const FunctionSchema& schema, std::size_t argument, const Value& value) {
  const SchemaArgument& expected = schema.arguments[argument];
  throw_error<TypeMismatch>(schema.name, "argument '{}' (position {}) must be {}, not {}", expected.name, argument + 1, expected.type.str(),
                            kind_of(value));
}

Tensor Unboxed<Tensor>::get(const FunctionSchema& schema, std::size_t argument, const Value& value) {
  return expect<Tensor>(schema, argument, value);
}
TensorList Unboxed<TensorList>::get(const FunctionSchema& schema, std::size_t argument, const Value& value) {
  return expect<TensorVector>(schema, argument, value);
}
OptionalTensorList Unboxed<OptionalTensorList>::get(const FunctionSchema& schema, std::size_t argument, const Value& value) {
  return expect<TensorVector>(schema, argument, value);
}
Scalar Unboxed<Scalar>::get(const FunctionSchema& schema, std::size_t argument, const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean;
  return expect<double>(schema, argument, value);
}
std::int64_t Unboxed<std::int64_t>::get(const FunctionSchema& schema, std::size_t argument, const Value& value) {
  return expect<std::int64_t>(schema, argument, value);
}
double Unboxed<double>::get(const FunctionSchema& schema, std::size_t argument, const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  return expect<double>(schema, argument, value);
}
bool Unboxed<bool>::get(const FunctionSchema& schema, std::size_t argument, const Value& value) {
  return expect<bool>(schema, argument, value);
}
IntArrayRef Unboxed<IntArrayRef>::get(const FunctionSchema& schema, std::size_t argument, const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return IntArrayRef(*integer);
  return expect<std::vector<std::int64_t>>(schema, argument, value);
}
std::string_view Unboxed<std::string_view>::get(const FunctionSchema& schema, std::size_t argument, const Value& value) {
  return expect<std::string>(schema, argument, value);
}
ScalarType Unboxed<ScalarType>::get(const FunctionSchema& schema, std::size_t argument, const Value& value) {
  const auto type = static_cast<ScalarType>(expect<std::int64_t>(schema, argument, value));
  if (element_size(type) == 0) throw_error<TypeMismatch>(schema.name, "element type {} is not supported", static_cast<int>(type));
  return type;
}
Layout Unboxed<Layout>::get(const FunctionSchema&, std::size_t, const Value&) { return Layout::kStrided; }
MemoryFormat Unboxed<MemoryFormat>::get(const FunctionSchema& schema, std::size_t argument, const Value& value) {
  return static_cast<MemoryFormat>(expect<std::int64_t>(schema, argument, value));
}
Device Unboxed<Device>::get(const FunctionSchema& schema, std::size_t argument, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return Device(*text);
  return expect<Device>(schema, argument, value);
}

Generator* Unboxed<Generator*>::get(const FunctionSchema& schema, std::size_t argument, const Value& value) {
  return expect<Generator*>(schema, argument, value);
}

Value boxed(const Scalar& scalar) {
  if (scalar.is_floating_point()) return scalar.to_double();
  if (scalar.is_boolean()) return scalar.to_bool();
  return scalar.to_int();
}

}  // namespace mindtorch

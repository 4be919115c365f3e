// Converts Values to the C++ types of an op's arguments, and its results back to Values.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <tuple>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/dispatch/op.h"

namespace mindtorch {

// Schema types of what an op returns: a tensor, several, a list, a number.
template <class Ret>
struct ResultTypes {
  static std::vector<SchemaType> get() { return {SchemaTypeOf<Ret>::value}; }
};
template <class... Ts>
struct ResultTypes<std::tuple<Ts...>> {
  static std::vector<SchemaType> get() { return {SchemaTypeOf<Ts>::value...}; }
};

[[noreturn]] MINDTORCH_EXPORT void fail_unboxing(const FunctionSchema& schema, std::size_t argument, const Value& value);

// Converts one argument. `value` must outlive the call, because lists are not copied.
template <class T>
struct Unboxed;

#define MINDTORCH_UNBOX(cpp_type)                                                                \
  template <>                                                                                    \
  struct MINDTORCH_EXPORT Unboxed<cpp_type> {                                                    \
    static cpp_type get(const FunctionSchema& schema, std::size_t argument, const Value& value); \
  }
MINDTORCH_UNBOX(Tensor);
MINDTORCH_UNBOX(TensorList);
MINDTORCH_UNBOX(OptionalTensorList);
MINDTORCH_UNBOX(Scalar);
MINDTORCH_UNBOX(std::int64_t);
MINDTORCH_UNBOX(double);
MINDTORCH_UNBOX(bool);
MINDTORCH_UNBOX(IntArrayRef);
MINDTORCH_UNBOX(std::string_view);
MINDTORCH_UNBOX(ScalarType);
MINDTORCH_UNBOX(Layout);
MINDTORCH_UNBOX(MemoryFormat);
MINDTORCH_UNBOX(Device);
MINDTORCH_UNBOX(Generator*);
#undef MINDTORCH_UNBOX
template <class T>
struct Unboxed<std::optional<T>> {
  static std::optional<T> get(const FunctionSchema& schema, std::size_t argument, const Value& value) {
    if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
    return Unboxed<T>::get(schema, argument, value);
  }
};

template <std::size_t N>
struct Unboxed<std::array<bool, N>> {
  static std::array<bool, N> get(const FunctionSchema& schema, std::size_t argument, const Value& value) {
    const IntArrayRef integers = Unboxed<IntArrayRef>::get(schema, argument, value);
    if (integers.size() != N) fail_unboxing(schema, argument, value);
    std::array<bool, N> values;
    std::transform(integers.begin(), integers.end(), values.begin(), [](std::int64_t integer) { return integer != 0; });
    return values;
  }
};

inline Value boxed(const Tensor& tensor) { return tensor; }
inline Value boxed(const TensorVector& tensors) { return tensors; }
inline Value boxed(bool value) { return value; }
inline Value boxed(std::int64_t value) { return value; }
inline Value boxed(double value) { return value; }
MINDTORCH_EXPORT Value boxed(const Scalar& scalar);

template <class OpType>
struct BoxedCall;
template <class Ret, class... Args>
struct BoxedCall<Op<Ret(Args...)>> {
  static ValueVector call(const OpBase& base, std::span<const Value> values) {
    return call_with(static_cast<const Op<Ret(Args...)>&>(base), values, std::index_sequence_for<Args...>());
  }

 private:
  template <std::size_t... I>
  static ValueVector call_with(const Op<Ret(Args...)>& op, std::span<const Value> values, std::index_sequence<I...>) {
    const FunctionSchema& schema = op.schema();
    return box_results(op(Unboxed<std::remove_cvref_t<Args>>::get(schema, I, values[I])...));
  }
  template <class T>
  static ValueVector box_results(const T& result) {
    return {boxed(result)};
  }
  template <class... Ts>
  static ValueVector box_results(const std::tuple<Ts...>& results) {
    return std::apply([](const auto&... result) { return ValueVector{boxed(result)...}; }, results);
  }
};

}  // namespace mindtorch

// Element types: names, sizes, and the type that results from two of them. The enum has torch's numbers.
#pragma once

#include <cstdint>
#include <string_view>

#include "mindtorch/base/error.h"
#include "mindtorch/base/export.h"
#include "mindtorch/record/slot.h"

namespace mindtorch {

enum class ScalarType : std::uint8_t { kUint8 = 0, kInt32 = 3, kInt64 = 4, kFloat32 = 6, kFloat64 = 7, kBool = 11 };

inline constexpr ScalarType kUint8 = ScalarType::kUint8;
inline constexpr ScalarType kInt32 = ScalarType::kInt32;
inline constexpr ScalarType kInt64 = ScalarType::kInt64;
inline constexpr ScalarType kFloat32 = ScalarType::kFloat32;
inline constexpr ScalarType kFloat64 = ScalarType::kFloat64;
inline constexpr ScalarType kBool = ScalarType::kBool;

MINDTORCH_EXPORT std::string_view dtype_name(ScalarType type);  // "float32"
// "Float": how torch's messages name a type ("expected scalar type Float but found Long").
MINDTORCH_EXPORT std::string_view scalar_type_title(ScalarType type);

constexpr std::size_t element_size(ScalarType type) {
  switch (type) {
    case ScalarType::kUint8:
    case ScalarType::kBool: return 1;
    case ScalarType::kInt32:
    case ScalarType::kFloat32: return 4;
    case ScalarType::kInt64:
    case ScalarType::kFloat64: return 8;
  }
  return 0;
}
constexpr bool is_floating_point(ScalarType type) { return type == kFloat32 || type == kFloat64; }
constexpr bool is_integral(ScalarType type, bool include_bool = false) {
  return type == kUint8 || type == kInt32 || type == kInt64 || (include_bool && type == kBool);
}

// torch.promote_types: the smallest type that both can be converted to without going to a lower kind (bool < integer < floating point).
MINDTORCH_EXPORT ScalarType promote_types(ScalarType a, ScalarType b);
// torch.can_cast: floating point does not fit into integers, and only bool fits into bool.
MINDTORCH_EXPORT bool can_cast(ScalarType from, ScalarType to);

// The type of new floating point tensors (torch.get_default_dtype); float32 unless set.
MINDTORCH_EXPORT ScalarType get_default_dtype();
MINDTORCH_EXPORT void set_default_dtype(ScalarType type);

template <class T>
inline constexpr ScalarType scalar_type_of = [] {
  static_assert(sizeof(T) == 0, "not an element type");
  return kFloat32;
}();
template <>
inline constexpr ScalarType scalar_type_of<std::uint8_t> = kUint8;
template <>
inline constexpr ScalarType scalar_type_of<std::int32_t> = kInt32;
template <>
inline constexpr ScalarType scalar_type_of<std::int64_t> = kInt64;
template <>
inline constexpr ScalarType scalar_type_of<float> = kFloat32;
template <>
inline constexpr ScalarType scalar_type_of<double> = kFloat64;
template <>
inline constexpr ScalarType scalar_type_of<bool> = kBool;

// Calls f.template operator()<T>() with the C++ type of `type`: visit_types(t, [&]<class T>() { ... }).
template <class F>
decltype(auto) visit_types(ScalarType type, F&& f) {
  switch (type) {
    case ScalarType::kUint8: return f.template operator()<std::uint8_t>();
    case ScalarType::kInt32: return f.template operator()<std::int32_t>();
    case ScalarType::kInt64: return f.template operator()<std::int64_t>();
    case ScalarType::kFloat32: return f.template operator()<float>();
    case ScalarType::kFloat64: return f.template operator()<double>();
    case ScalarType::kBool: break;
  }
  return f.template operator()<bool>();
}

// As visit_types(), for float32 and float64 only; `op` is named in the error for other types.
template <class F>
decltype(auto) visit_floating_types(ScalarType type, std::string_view op, F&& f) {
  if (type == kFloat32) return f.template operator()<float>();
  if (type == kFloat64) return f.template operator()<double>();
  throw_error(op, "not implemented for '{}'", scalar_type_title(type));
}

}  // namespace mindtorch

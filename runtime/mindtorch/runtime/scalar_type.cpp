// Element types: names and promotion.
#include "mindtorch/runtime/scalar_type.h"

#include <atomic>

namespace mindtorch {

namespace {

std::atomic<ScalarType> default_dtype{kFloat32};

// Types in the order of promotion. uint8 and the signed integers are ordered too: every value of uint8 fits in int32.
int promotion_rank(ScalarType type) {
  switch (type) {
    case ScalarType::kBool: return 0;
    case ScalarType::kUint8: return 1;
    case ScalarType::kInt32: return 2;
    case ScalarType::kInt64: return 3;
    case ScalarType::kFloat32: return 4;
    case ScalarType::kFloat64: return 5;
  }
  return 5;
}

}  // namespace

std::string_view dtype_name(ScalarType type) {
  switch (type) {
    case ScalarType::kUint8: return "uint8";
    case ScalarType::kInt32: return "int32";
    case ScalarType::kInt64: return "int64";
    case ScalarType::kFloat32: return "float32";
    case ScalarType::kFloat64: return "float64";
    case ScalarType::kBool: return "bool";
  }
  return "";
}

std::string_view scalar_type_title(ScalarType type) {
  switch (type) {
    case ScalarType::kUint8: return "Byte";
    case ScalarType::kInt32: return "Int";
    case ScalarType::kInt64: return "Long";
    case ScalarType::kFloat32: return "Float";
    case ScalarType::kFloat64: return "Double";
    case ScalarType::kBool: return "Bool";
  }
  return "";
}

ScalarType promote_types(ScalarType a, ScalarType b) { return promotion_rank(a) >= promotion_rank(b) ? a : b; }

bool can_cast(ScalarType from, ScalarType to) {
  if (is_floating_point(from) && !is_floating_point(to)) return false;
  return from == kBool || to != kBool;
}

ScalarType get_default_dtype() { return default_dtype.load(std::memory_order_relaxed); }

void set_default_dtype(ScalarType type) {
  if (!is_floating_point(type))
    throw_error<TypeMismatch>("runtime.set_default_dtype", "only floating-point types are supported as the default type, got {}",
                              dtype_name(type));
  default_dtype.store(type, std::memory_order_relaxed);
}

}  // namespace mindtorch

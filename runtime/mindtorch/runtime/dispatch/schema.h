// The schema of an op: its name, arguments and results, what it aliases and what it writes to. It has torch's syntax and is parsed once:
//   aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/dispatch/value.h"

namespace mindtorch {

struct MINDTORCH_EXPORT SchemaType {
  enum class Base : std::uint8_t {
    kTensor,
    kScalar,
    kInt,
    kFloat,
    kBoolean,
    kString,
    kScalarType,
    kLayout,
    kDevice,
    kMemoryFormat,
    kGenerator
  };
  Base base = Base::kTensor;
  bool list = false;
  bool optional = false;           // of the whole value: int[]? is a list or None
  bool optional_elements = false;  // Tensor?[]
  friend bool operator==(const SchemaType&, const SchemaType&) = default;
  std::string str() const;  // "int[]?"
};

struct SchemaArgument {
  std::string name;  // may be empty for results
  SchemaType type;
  std::string alias;  // "a" in Tensor(a!); empty if it aliases nothing
  bool is_write = false;
  bool keyword_only = false;
  bool has_default = false;
  std::string default_text;  // as written
  Value default_value;       // a list type with a single number as default becomes a list of one
};

struct MINDTORCH_EXPORT FunctionSchema {
  std::string name;      // "aten::add_"
  std::string overload;  // "Tensor"
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaArgument> results;

  // Throws InvalidArgument with the place of the mistake.
  static FunctionSchema parse(std::string_view text);

  std::string full_name() const { return overload.empty() ? name : name + "." + overload; }
  bool is_mutable() const;
  // True if a result shares memory with an argument that is not written to.
  bool is_view() const;
  // Bit i: argument i is written to.
  std::uint32_t mutated_arguments() const;
  std::string str() const;
};

}  // namespace mindtorch

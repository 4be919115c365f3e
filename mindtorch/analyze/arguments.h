// The recorded arguments of an op call, seen in place: what shapes and FLOPs are computed from, without decoding into objects.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/inputs.h"

namespace mindtorch::analyze {

// One argument, pointing into the encoded row.
struct Argument {
  trace::Input::Kind kind = trace::Input::Kind::kNone;
  trace::ScalarType dtype = trace::ScalarType::kOther;
  std::span<const std::int64_t> values;   // kTensor: sizes; kInt, kBool: the value; kIntList, kBoolList: the values
  std::span<const std::int64_t> strides;  // kTensor, unless contiguous
  std::uint32_t list_size = 0;            // kTensorList: so many of the arguments after it are its tensors
};

// Replaces `out` by the arguments of a row of Recording::inputs (keep the vector: no allocation once it has grown). The tensors of a list
// follow its argument. Throws InvalidArgument if the row is malformed.
MINDTORCH_EXPORT void read_arguments(std::span<const std::int64_t> words, std::vector<Argument>& out);

// torch's input_shapes: sizes for a tensor, [] for anything else, tensor lists included.
using Shapes = std::vector<std::vector<std::int64_t>>;
MINDTORCH_EXPORT Shapes input_shapes(std::span<const std::int64_t> words);

// Returns the shapes as Python prints them: "[[2, 3], []]".
MINDTORCH_EXPORT std::string shapes_text(const Shapes& shapes);

// Numbers call signatures: two rows have one id if and only if their input_shapes are equal.
class MINDTORCH_EXPORT ShapeIds {
 public:
  ShapeIds();
  ~ShapeIds();
  std::uint32_t id(std::span<const std::int64_t> words);
  static constexpr std::uint32_t kEmpty = 0;  // the id of no arguments

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mindtorch::analyze

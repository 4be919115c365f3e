// Arguments of ops, encoded as 64-bit words: the recorder writes them with a few stores, a Recording keeps them as they are.
//
// A row is one word with the number of arguments, then each argument: a header word (kind, dtype, flags, count) and its payload.
//   tensor       header{kTensor, dtype, contiguous?, ndim}  sizes[ndim]  strides[ndim] unless contiguous
//                (one whose layout has no strides, which a bit of the header tells, is stored as if it were contiguous)
//   tensor list  header{kTensorList, count}                 `count` tensors
//   int, bool    header{..}                                 value
//   double       header{kDouble}                            bits
//   text         header{kText}                              NameId
//   int list     header{kIntList, count}                    values[count]
//   bool list    header{kBoolList, count}                   values[count]
//   double list  header{kDoubleList, count}                 bits[count]
//   none, other  header
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::trace {

constexpr std::int64_t make_input_header(Input::Kind kind, std::uint32_t count = 0, ScalarType dtype = ScalarType::kOther,
                                         bool contiguous = false) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(kind) | (static_cast<std::uint64_t>(dtype) << 8) |
                                   (static_cast<std::uint64_t>(contiguous) << 16) | (static_cast<std::uint64_t>(count) << 32));
}
constexpr Input::Kind input_kind(std::int64_t header) { return static_cast<Input::Kind>(header & 0xFF); }
constexpr ScalarType input_dtype(std::int64_t header) { return static_cast<ScalarType>((header >> 8) & 0xFF); }
constexpr bool input_contiguous(std::int64_t header) { return ((header >> 16) & 1) != 0; }
constexpr std::int64_t kWithoutStrides = 1 << 17;  // in the header of a tensor, beside `contiguous`
constexpr bool input_has_strides(std::int64_t header) { return (header & kWithoutStrides) == 0; }
constexpr std::uint32_t input_count(std::int64_t header) { return static_cast<std::uint32_t>(static_cast<std::uint64_t>(header) >> 32); }

// Decodes a row of Recording::inputs. Throws InvalidArgument if the words are malformed.
MINDTORCH_EXPORT std::vector<Input> decode_inputs(std::span<const std::int64_t> words);

// Encodes arguments (tests, importers); decode_inputs(encode_inputs(x)) == x, but a tensor without strides is taken as contiguous.
// Throws InvalidArgument if a tensor has another number of strides than sizes, or a tensor list holds anything but tensors.
MINDTORCH_EXPORT std::vector<std::int64_t> encode_inputs(std::span<const Input> inputs);

// Describes what is wrong with a row; empty if it is well formed and the NameId of each text is below `names`. Does not allocate.
MINDTORCH_EXPORT std::string_view check_inputs(std::span<const std::int64_t> words, std::size_t names);

// Replaces the NameId of each text of a well-formed row by new_id[NameId].
MINDTORCH_EXPORT void map_input_names(std::span<std::int64_t> words, std::span<const NameId> new_id);

}  // namespace mindtorch::trace

// Arguments of ops, encoded as 64-bit words: the recorder writes them with a few stores, a Recording keeps them as they are.
//
// A row is one word with the number of arguments, then each argument: a header word (kind, dtype, flags, count) and its payload.
//   tensor       header{kTensor, dtype, contiguous?, ndim}  sizes[ndim]  strides[ndim] unless contiguous
//   tensor list  header{kTensorList, count}                 `count` tensors
//   int, bool    header{..}                                 value
//   double       header{kDouble}                            bits
//   text         header{kText}                              NameId
//   int list     header{kIntList, count}                    values[count]
//   double list  header{kDoubleList, count}                 bits[count]
//   none, other  header
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "mindtorch/trace/event.h"

namespace mindtorch::trace {

constexpr std::int64_t make_input_header(Input::Kind kind, std::uint32_t count = 0, ScalarType dtype = ScalarType::kOther, bool contiguous = false) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(kind) | (static_cast<std::uint64_t>(dtype) << 8) |
                                   (static_cast<std::uint64_t>(contiguous) << 16) | (static_cast<std::uint64_t>(count) << 32));
}
constexpr Input::Kind input_kind(std::int64_t header) { return static_cast<Input::Kind>(header & 0xFF); }
constexpr ScalarType input_dtype(std::int64_t header) { return static_cast<ScalarType>((header >> 8) & 0xFF); }
constexpr bool input_contiguous(std::int64_t header) { return ((header >> 16) & 1) != 0; }
constexpr std::uint32_t input_count(std::int64_t header) { return static_cast<std::uint32_t>(static_cast<std::uint64_t>(header) >> 32); }

// Decodes a row of Recording::inputs. Throws InvalidArgument if the words are malformed.
std::vector<Input> decode_inputs(std::span<const std::int64_t> words);

// Encodes arguments (tests, importers); decode_inputs(encode_inputs(x)) == x.
std::vector<std::int64_t> encode_inputs(std::span<const Input> inputs);

}  // namespace mindtorch::trace

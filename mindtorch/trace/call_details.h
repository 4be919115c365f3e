// What an execution trace says about a call besides its event: arguments, results, the schema of the op. An event refers to them by its
// attribute kCallId.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mindtorch::trace {

// "inputs" or "outputs" of a node: the items of four JSON lists, separated by commas. Text is std::string_view where a host passes it,
// because a host may be compiled with other strings than this library (torch 2.6).
template <class Text>
struct CallValuesOf {
  Text values, shapes, types, strides;
};
template <class Text>
struct CallDetailsOf {
  CallValuesOf<Text> inputs, outputs;
  Text schema;  // "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor"
  Text kernel_backend, kernel_file;
  Text attributes;  // more attributes of the node, JSON objects with name, type and value, separated by commas
};
using CallDetails = CallDetailsOf<std::string>;
using CallDetailsById = std::unordered_map<std::uint64_t, CallDetails>;

// The attribute of an event whose call has details: a number that no other call of the process has.
inline constexpr std::string_view kCallId = "Record function id";

}  // namespace mindtorch::trace

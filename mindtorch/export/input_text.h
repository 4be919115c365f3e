// Arguments of ops as torch writes them into a trace, and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mindtorch/trace/event.h"

namespace mindtorch::exporter {

// The four texts torch has for the arguments of a call; each is a JSON list with one item an argument.
struct InputTexts {
  std::string dims;      // "Input Dims": [[2,3],[]]
  std::string types;     // "Input type": ["float","Scalar"]
  std::string strides;   // "Input Strides"
  std::string concrete;  // "Concrete Inputs": ["","6"]
};

// torch's name of the type of an argument: "float" for a tensor, "Scalar", "TensorList"; empty for what it does not name.
std::string_view input_type_name(const trace::Input& input);

// Replaces `texts` by those of a row of Recording::inputs.
void format_inputs(std::span<const std::int64_t> words, const std::vector<std::string>& names, InputTexts& texts);

// A number that JSON can hold and that reads back as a double: "0.5", "3.0", "1e+30"; what is not finite becomes a string.
void append_json_double(std::string& out, double value);

// The scalar type torch's name stands for ("long int"); kOther if none.
trace::ScalarType scalar_type_of_name(std::string_view name);

}  // namespace mindtorch::exporter

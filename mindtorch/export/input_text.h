// Arguments of ops as torch writes them into a trace.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::exporter {

// The four texts torch has for the arguments of a call; each is a JSON list with one item per argument.
struct InputTexts {
  std::string dims;      // "Input Dims": [[2,3],[]]
  std::string types;     // "Input type": ["float","Scalar"]
  std::string strides;   // "Input Strides"
  std::string concrete;  // "Concrete Inputs": ["","6"]
};

// torch's name of the type of an argument: "float" for a tensor, "Scalar", "TensorList"; empty for what it does not name.
MINDTORCH_EXPORT std::string_view input_type_name(const trace::Input& input);

// Replaces `texts` by those of a row of Recording::inputs.
MINDTORCH_EXPORT void format_inputs(std::span<const std::int64_t> words, const std::vector<std::string>& names, InputTexts& texts);

// A number that JSON can hold and that reads back as a double: "0.5", "3.0", "1e+30"; what is not finite becomes a string.
MINDTORCH_EXPORT void append_json_double(std::string& out, double value);

}  // namespace mindtorch::exporter
